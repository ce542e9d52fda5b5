"""The only clock: callers pass times in, so that scores and cards stay pure functions."""

from __future__ import annotations

import datetime as dt

__all__ = ["now_utc"]


def now_utc() -> str:
    """Return the current time as ISO 8601 in UTC with whole seconds."""
    return dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
