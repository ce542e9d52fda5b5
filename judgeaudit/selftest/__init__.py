"""The instrument, tested before it is trusted.

Planted judges go through the real engine, and as tables through the real scoring; bias and
coverage of every published number are measured against what was planted.
"""

from judgeaudit.selftest.report import page, text
from judgeaudit.selftest.running import FULL, QUICK, Result, Size, run

__all__ = ["FULL", "QUICK", "Result", "Size", "page", "run", "text"]
