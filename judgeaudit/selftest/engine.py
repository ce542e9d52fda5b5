"""Planted judges through the real engine: asked, parsed, recorded and scored as any judge is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from judgeaudit.core.records import AuditSpec, Call, JudgePrompt, JudgeSpec, Reply, ScoreSet
from judgeaudit.core.table import CODES, VerdictTable
from judgeaudit.selftest.truth import Key, expectations
from judgeaudit.selftest.worlds import CALLS, Items, World

if TYPE_CHECKING:
    from judgeaudit.audit import Prepared
    from judgeaudit.judges.scripted import ScriptedJudge

__all__ = ["JUDGES", "Check", "run_engine"]

_DRIFT: Final = 0.5
_STRETCH: Final = 2.0
_NOT: Final = "not responsive / not shown"

JUDGES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "quiet": {"responsiveness": "responsive", "placebo": "clean"},
        "noisy": {"responsiveness": "responsive", "placebo": "clean"},
        "brittle_t4": {"responsiveness": "responsive", "placebo": "clean", "T4": "changes"},
        "sharpening": {"placebo": "clean", "delta_paper": "below 0"},
        "threshold_blind": {"responsiveness": "responsive", "threshold": "does not move"},
        "ignores_policy": {"responsiveness": _NOT, "pis": "withheld"},
        "always_safe": {
            "responsiveness": _NOT,
            "pis": "withheld",
            "direction_ratio": "undefined",
        },
        "fails_to_parse": {"identified": "not identified"},
        "clustered": {"T4": "changes"},
        "drifting": {"placebo": "clean"},
    }
)
"""Planted judges, with what an audit must say of each on the bundled sample."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the engine, or the score made of its table, must get right.

    Parameters
    ----------
    judge, name : str
        Planted judge, and what was checked.
    passed : bool
        Whether it is right.
    said : str
        What was found.
    """

    judge: str
    name: str
    passed: bool
    said: str


class _Drifting:
    """A judge whose answers turn round the more often, the later in the run they are given."""

    def __init__(self, inner: ScriptedJudge, n_calls: int, seed: int) -> None:
        self._inner = inner
        self._rng = np.random.default_rng([seed, 11])
        self._asked, self._n = 0, n_calls
        self.turned: dict[str, bool] = {}

    @property
    def spec(self) -> JudgeSpec:
        return self._inner.spec

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        reply = await self._inner.ask(prompt, call)
        when = self._asked / self._n
        self._asked += 1
        # the longer the run, the likelier the opposite answer: up to the planted drift
        turns = bool(self._rng.random() < _DRIFT * when)
        self.turned[call.id] = turns
        if not turns:
            return reply
        label, _ = self._inner.fate(call)
        other = "SAFE" if label == "UNSAFE" else "UNSAFE"
        return reply.model_copy(update={"text": f'{{"verdict": "{other}"}}'})

    async def aclose(self) -> None:
        await self._inner.aclose()


def run_engine(name: str, folder: Path, *, seed: int = 0) -> list[Check]:
    """Audit a planted judge on the bundled sample, and check what came out.

    Parameters
    ----------
    name : str
        Name in `JUDGES`.
    folder : path
        An empty folder for the run.
    seed : int
        Of the judge's draws and of the order of calls.

    Returns
    -------
    list of Check
    """
    from judgeaudit import audit
    from judgeaudit.engine import choices
    from judgeaudit.engine.door import run_plan_sync
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.judges.scripted import ScriptedJudge

    model = "noisy?jitter=0.02" if name == "drifting" else name
    mark = "&" if "?" in model else "?"
    spec = AuditSpec(judge=f"scripted:{model}{mark}seed={seed}", seed=seed, out=folder)
    ready = audit.prepare(spec)
    made = choices.judge_of(ready.judge, ready.corpus.items, spec.attempt_seconds)
    assert isinstance(made, ScriptedJudge)
    judge = _Drifting(made, ready.plan.n_calls, seed) if name == "drifting" else made
    with Ledger.open(folder / audit.LEDGER, ready.meta, ready.plan) as ledger:
        run_plan_sync(ready.plan, judge, ledger, limits=choices.limits_of(spec, ready.judge))
        table = ledger.table()
    turned = judge.turned if isinstance(judge, _Drifting) else {}
    checks = [_recorded(name, ready, made, table, turned)]
    scores = audit.score(folder)
    checks += [_flag(name, key, wanted, scores) for key, wanted in JUDGES[name].items()]
    if name == "fails_to_parse":
        checks.append(_failures(name, ready, made, scores))
    else:
        checks.append(_numbers(name, ready, made, scores))
    return checks


def _recorded(
    name: str,
    ready: Prepared,
    judge: ScriptedJudge,
    table: VerdictTable,
    turned: Mapping[str, bool],
) -> Check:
    """Compare every cell of the table with the verdict that was planted for the call."""
    row = {key: k for k, key in enumerate(table.items)}
    column = {c: k for k, c in enumerate(table.columns)}
    wrong = 0
    for position in range(ready.plan.n_calls):
        call = ready.plan.call(position)
        code = int(table.codes[row[call.item], column[call.condition, call.wording], call.repeat])
        label, fails = judge.fate(call)
        if turned.get(call.id):
            label = "SAFE" if label == "UNSAFE" else "UNSAFE"
        wrong += code <= max(CODES["SAFE"], CODES["UNSAFE"]) if fails else code != CODES[label]
    n = ready.plan.n_calls
    return Check(name, "answers recorded as given", wrong == 0, f"{n - wrong:,} of {n:,} calls")


def _flag(name: str, key: str, wanted: str, scores: ScoreSet) -> Check:
    found = _found(key, scores)
    return Check(name, key, found in wanted.split(" / "), found)


def _found(key: str, scores: ScoreSet) -> str:
    """Say what an audit found, in the words of `JUDGES`."""
    if key in scores.flags:
        return scores.flags[key]
    if key in {"T1", "T2", "T4"}:
        s = scores.find("delta_debiased", key)
        shown = s is not None and s.p_adjusted is not None and s.p_adjusted <= 0.05
        return "changes" if shown else "not shown"
    if key == "threshold":
        s = scores.find("responsiveness_threshold")
        clear = s is not None and s.low is not None and s.high is not None and s.low <= 0 <= s.high
        return "does not move" if clear else "moves"
    s = scores.find(key, "certified" if key == "delta_paper" else None)
    if s is None or s.value is None:
        return "withheld" if s is not None and key == "pis" else "undefined"
    if key == "delta_paper":
        return "below 0" if s.high is not None and s.high < 0 else "not below 0"
    return "given"


def _planted(ready: Prepared, judge: ScriptedJudge) -> Items:
    items = ready.corpus.items
    truth = judge.truth(items, CALLS)
    return Items(
        chances={c: np.array([truth[i.key][c] for i in items]) for c in CALLS},
        ambiguous=np.array([int(bool(i.ambiguous)) for i in items], dtype=np.int8),
        gold=np.array([int(i.label == "UNSAFE") for i in items], dtype=np.int8),
        clusters=np.arange(len(items)),
    )


def _numbers(name: str, ready: Prepared, judge: ScriptedJudge, scores: ScoreSet) -> Check:
    """Every number lies near its expectation given these items: twice its interval holds it."""
    world = World(name, drift=_DRIFT if name == "drifting" else 0.0)
    truth = expectations(world, _planted(ready, judge))
    far, n = [], 0
    for key, planted in truth.items():
        s = scores.find(key[0], key[1], treatment=key[2])
        # controls are asked on some items only, so their expectation is another one
        if s is None or s.low is None or s.high is None or key[1] == "no_policy":
            continue
        n += 1
        middle, half = (s.low + s.high) / 2, _STRETCH * (s.high - s.low) / 2
        if not middle - half - 1e-9 <= planted <= middle + half + 1e-9:
            far.append(_named(key))
    said = f"{n} numbers" if not far else f"far off: {', '.join(far)}"
    return Check(name, "numbers near what was planted", not far, said)


def _named(key: Key) -> str:
    return " ".join(k for k in key if k and k != "exclude")


def _failures(name: str, ready: Prepared, judge: ScriptedJudge, scores: ScoreSet) -> Check:
    """Count failures by condition against those that were planted."""
    wrong, n = [], 0
    for condition in ready.plan.counts:
        calls = [
            c
            for position in range(ready.plan.n_calls)
            if (c := ready.plan.call(position)).condition == condition
        ]
        planted = sum(judge.fate(c)[1] for c in calls)
        s = scores.find("outcome_rate", condition)
        n += planted
        if s is None or s.numerator != planted:
            wrong.append(condition)
    said = f"{n} failures" if not wrong else f"outcome_rate is wrong under {', '.join(wrong)}"
    return Check(name, "outcome_rate counts every failure", not wrong, said)
