"""The explorer: a local page over a run's ledger that shows every flip.

>>> from judgeaudit.viewer import Explorer
>>> Explorer([Path("runs/demo/ledger.sqlite")])  # doctest: +SKIP
"""

from judgeaudit.viewer.explorer import Explorer

__all__ = ["Explorer"]
