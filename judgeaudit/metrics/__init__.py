"""One file a metric: a function over arrays, and its wrapper to scores."""

from judgeaudit.metrics._registry import METRICS, Metric, Report
from judgeaudit.metrics._view import CERTIFIED, View

__all__ = ["CERTIFIED", "METRICS", "Metric", "Report", "View"]
