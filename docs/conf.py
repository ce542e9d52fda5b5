"""How the documents are built: `bash .ci/run docs`. Two pages are made from the program itself."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import _generate  # noqa: E402

from judgeaudit._version import __version__  # noqa: E402

project = "judgeaudit"
author = "the authors of judgeaudit"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "generated"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
# two hyphens are the start of a flag, not a dash
smartquotes = False
html_theme = "furo"
html_title = "judgeaudit"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
# excerpts are fetched page by page, which a browser forbids to pages of a folder
html_show_search_summary = False
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_js_files = ["docs.js"]
templates_path = ["_templates"]


def _levels(_app, _page, _template, context, _tree):
    """Say which level the captions of contents have, which Sphinx calls headings and no more."""
    for part in ("furo_navigation_tree", "body"):
        text = context.get(part) or ""
        context[part] = text.replace('role="heading">', 'role="heading" aria-level="2">')


def setup(app):
    """Make the generated pages before any is read."""
    app.connect("builder-inited", lambda _app: _generate.write(HERE / "generated"))
    # after the theme's own, which makes the tree
    app.connect("html-page-context", _levels, priority=900)
