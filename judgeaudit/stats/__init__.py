"""Intervals, tests and corrections: pure functions of counts per item. No floor above core."""
