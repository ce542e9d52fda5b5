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
html_theme = "furo"
html_title = "judgeaudit"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def setup(app):
    """Make the generated pages before any is read."""
    app.connect("builder-inited", lambda _app: _generate.write(HERE / "generated"))
