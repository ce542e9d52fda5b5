"""The nouns: frozen records that cross a file or a wire."""

from judgeaudit.core.records._base import Dimension, Label, Outcome, Record
from judgeaudit.core.records.calls import Call, JudgePrompt, JudgeSpec, Message, Reply, Verdict
from judgeaudit.core.records.items import Item, LabelSource, Role, Trajectory, Turn
from judgeaudit.core.records.policy import (
    Action,
    BurdenOfProof,
    DefaultRule,
    Definition,
    Draft,
    Force,
    JudgeTemplate,
    Norm,
    Policy,
    PolicyException,
    Threshold,
)
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
    "Action",
    "AuditSpec",
    "BurdenOfProof",
    "Call",
    "Certificate",
    "Condition",
    "ConditionKind",
    "CorpusFacts",
    "DefaultRule",
    "Definition",
    "Dimension",
    "Draft",
    "Evidence",
    "Finding",
    "Force",
    "Item",
    "JudgePrompt",
    "JudgeSpec",
    "JudgeTemplate",
    "Label",
    "LabelSource",
    "Message",
    "Norm",
    "Outcome",
    "Policy",
    "PolicyException",
    "PolicyFacts",
    "Protocol",
    "Record",
    "Rendering",
    "Reply",
    "Role",
    "RunFacts",
    "Score",
    "ScoreSet",
    "Threshold",
    "Trajectory",
    "Turn",
    "Verdict",
]
