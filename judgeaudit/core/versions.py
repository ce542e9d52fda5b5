"""Which versions of what a run was made with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["versions"]

_NAMED: Final = (
    # what every installation has
    *("judgeaudit", "litellm", "aiohttp", "httpx", "pydantic", "tenacity", "pandas", "numpy"),
    *("scipy", "jinja2", "datasets", "typer", "rich"),
    # extras that answer, score or carry calls
    *("xllamacpp", "statsmodels", "ray", "inspect-ai"),
)


def versions() -> dict[str, str]:
    """Return the version of Python and of each library that shapes a result, where installed."""
    found = {"python": platform.python_version()}
    for name in _NAMED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
