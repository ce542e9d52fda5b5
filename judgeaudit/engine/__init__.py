"""The world: the plan of calls, the ledger, limits and the runner that retries."""

from judgeaudit.engine.budget import Budget, Caps
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.estimate import Estimate, Price
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Gate, Limits
from judgeaudit.engine.plan import Plan, build_plan
from judgeaudit.engine.presets import PRESETS, make_protocol
from judgeaudit.engine.progress import make_progress
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.throttle import Throttle
from judgeaudit.engine.verify import broken_links
from judgeaudit.engine.view import LedgerView

__all__ = [
    "PRESETS",
    "Budget",
    "Caps",
    "Estimate",
    "Gate",
    "Ledger",
    "LedgerView",
    "Limits",
    "Plan",
    "Price",
    "RunControl",
    "RunMeta",
    "RunSummary",
    "Throttle",
    "broken_links",
    "build_plan",
    "make_progress",
    "make_protocol",
    "run_plan",
    "run_plan_sync",
]
