"""One file a metric: a function over arrays, and its wrapper to a Score."""
