"""Crash-test rig for LLM safety judges.

Does a judge's verdict follow the agent's behaviour, or the wording of the policy? The audit as a
library::

    from judgeaudit import audit

    result = audit.run(judge="scripted:brittle_t4", corpus="sample", preset="quick")
    print(result.card.headline)
    print(result.scores.find("delta_paper", "T4").value)

Importing this package loads neither litellm nor datasets; names are fetched when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgeaudit._version import __version__

if TYPE_CHECKING:
    from judgeaudit import audit
    from judgeaudit.core.errors import JudgeAuditError
    from judgeaudit.core.records import AuditSpec

__all__ = ["AuditSpec", "JudgeAuditError", "__version__", "audit"]


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home when it is first used."""
    import importlib

    if name == "audit":
        return importlib.import_module("judgeaudit.audit")
    if name == "AuditSpec":
        return importlib.import_module("judgeaudit.core.records").AuditSpec
    if name == "JudgeAuditError":
        return importlib.import_module("judgeaudit.core.errors").JudgeAuditError
    raise AttributeError(f"module 'judgeaudit' has no attribute {name!r}")
