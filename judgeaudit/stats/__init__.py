"""Resampling, intervals, tests and corrections: pure functions over arrays."""

from judgeaudit.stats._types import Interval, Undefined

__all__ = ["Interval", "Undefined"]
