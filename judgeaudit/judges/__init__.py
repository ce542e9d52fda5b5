"""Judge backends: a prompt goes in, a reply comes out; parsing reads a verdict or an outcome."""

from judgeaudit.judges.base import JUDGES, Judge, JudgeFactory, PlantedJudge, ProbedJudge
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.parsing import parse
from judgeaudit.judges.replay import ReplayJudge
from judgeaudit.judges.scripted import ScriptedJudge
from judgeaudit.judges.via_litellm import LiteLLMJudge

__all__ = [
    "JUDGES",
    "DirectJudge",
    "Judge",
    "JudgeFactory",
    "LiteLLMJudge",
    "PlantedJudge",
    "ProbedJudge",
    "ReplayJudge",
    "ScriptedJudge",
    "parse",
]
