"""Resampling, intervals, tests and corrections: pure functions over arrays."""
