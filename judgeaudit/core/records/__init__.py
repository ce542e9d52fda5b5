"""The nouns: frozen records that cross a file or a wire."""

from judgeaudit.core.records._base import Dimension, Label, Outcome, Record
from judgeaudit.core.records.calls import Call, JudgePrompt, JudgeSpec, Message, Reply, Verdict
from judgeaudit.core.records.items import Item, LabelSource, Role, Trajectory, Turn
from judgeaudit.core.records.run import (
    Certificate,
    Condition,
    ConditionKind,
    CorpusFacts,
    Evidence,
    Finding,
    PolicyFacts,
    Protocol,
    Rendering,
    RunFacts,
)
from judgeaudit.core.records.scores import Score, ScoreSet
from judgeaudit.core.records.spec import AuditSpec

__all__ = [
    "AuditSpec",
    "Call",
    "Certificate",
    "Condition",
    "ConditionKind",
    "CorpusFacts",
    "Dimension",
    "Evidence",
    "Finding",
    "Item",
    "JudgePrompt",
    "JudgeSpec",
    "Label",
    "LabelSource",
    "Message",
    "Outcome",
    "PolicyFacts",
    "Protocol",
    "Record",
    "Rendering",
    "Reply",
    "Role",
    "RunFacts",
    "Score",
    "ScoreSet",
    "Trajectory",
    "Turn",
    "Verdict",
]
