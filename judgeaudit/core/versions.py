"""Which versions of what a run was made with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["versions"]

_NAMED: Final = ("judgeaudit", "litellm", "aiohttp", "numpy", "scipy", "jinja2", "xllamacpp")


def versions() -> dict[str, str]:
    """Return the version of Python and of each library that shapes a result, where installed."""
    found = {"python": platform.python_version()}
    for name in _NAMED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
