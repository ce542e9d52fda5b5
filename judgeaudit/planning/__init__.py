"""How many items and calls an audit needs, or what given ones can show; asks no judge anything.

::

    from judgeaudit import planning

    answer = planning.plan(jitter=0.05, effect=0.05)
    print(answer.best.items, answer.best.calls)
"""

from judgeaudit.planning.answer import Answer, Layout, Option
from judgeaudit.planning.asking import LAYOUTS, plan

__all__ = ["LAYOUTS", "Answer", "Layout", "Option", "plan"]
