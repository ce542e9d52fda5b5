"""A small audit to run an engine on: items, conditions, renderings, a prompt, a coroutine judge."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from judgeaudit.core.errors import TransientError
from judgeaudit.core.hashing import sha256_of, sha256_text
from judgeaudit.core.records import (
    Call,
    Condition,
    CorpusFacts,
    Item,
    JudgePrompt,
    JudgeSpec,
    Message,
    PolicyFacts,
    Protocol,
    Rendering,
    Reply,
    Trajectory,
    Turn,
    Verdict,
)
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.plan import Plan, build_plan
from judgeaudit.engine.presets import make_protocol
from judgeaudit.engine.runner import run_plan

KINDS = {
    "base": "reference",
    "T0": "placebo",
    "T1": "certified",
    "T2": "certified",
    "T4": "certified",
    "T3": "near",
    "strict": "threshold",
    "lenient": "threshold",
    "no_policy": "control",
    "inverted": "control",
    "vacuum": "control",
}
CONDITIONS = tuple(
    Condition(id=k, kind=v, side="trajectory" if k == "vacuum" else "policy")  # type: ignore[arg-type]
    for k, v in KINDS.items()
)


def VACUUM(trajectory: Trajectory) -> Trajectory:  # noqa: N802
    return trajectory.model_copy(update={"turns": (Turn(role="user", content="Hello."),)})


SPEC = JudgeSpec(backend="scripted", model="hash", decoding={"temperature": 1.0, "max_tokens": 50})
POLICY = PolicyFacts(id="p", title="A policy", sha256=sha256_text("p"), n_norms=1, n_exceptions=0)


def make_items(n: int) -> list[Item]:
    return [
        Item(
            dataset="toy",
            subset="",
            id=str(k),
            cluster=f"c{k // 2}",
            trajectory=Trajectory(turns=(Turn(role="user", content=f"Do thing {k}, please."),)),
            label=("SAFE", "UNSAFE")[k % 2],
            label_source="author",
            ambiguous=(None, False, True)[k % 3],
            strata={"domain": ("mail", "bank")[k % 2]},
        )
        for k in range(n)
    ]


def make_renderings(wordings: int = 1) -> list[Rendering]:
    return [
        Rendering(
            policy_id="p",
            policy_sha256=POLICY.sha256,
            condition=c,
            wording=w,
            text=f"Policy as {c} words it ({w}).",
            sha256=sha256_text(f"Policy as {c} words it ({w})."),
        )
        for c in KINDS
        if c not in {"T0", "vacuum"}
        for w in range(wordings)
    ]


def prompt_of(item: Item, rendering: Rendering) -> JudgePrompt:
    turns = "\n".join(t.content or "" for t in item.trajectory.turns)
    return JudgePrompt(
        messages=(
            Message(role="system", content=rendering.text),
            Message(role="user", content=turns),
        )
    )


def make_meta(plan: Plan, **changes: object) -> RunMeta:
    corpus = CorpusFacts(
        name="toy",
        sha256=sha256_of([i.key for i in plan.items]),
        n_items=len(plan.items),
        n_clusters=len({i.cluster for i in plan.items}),
        n_unsafe=0,
        n_safe=0,
        label_source="author",
        ambiguity_source="the authors",
    )
    values: dict[str, object] = {
        "protocol": plan.protocol,
        "judge": plan.judge,
        "policy": POLICY,
        "renderings": tuple(c.rendering for c in plan.columns),
        "corpus": corpus,
        "template": "{{ policy }}",
        "versions": {"judgeaudit": "0"},
        "created": "2030-01-01T00:00:00Z",
    }
    return RunMeta(**{**values, **changes})  # type: ignore[arg-type]


def make_plan(n_items: int = 4, preset: str = "quick", **overrides: object) -> Plan:
    spec = overrides.pop("spec", SPEC)
    protocol = make_protocol(preset, CONDITIONS, **overrides)  # type: ignore[arg-type]
    return plan_for(n_items, protocol, spec)  # type: ignore[arg-type]


def plan_for(n_items: int, protocol: Protocol, spec: JudgeSpec = SPEC) -> Plan:
    return build_plan(
        make_items(n_items),
        make_renderings(protocol.wordings),
        protocol,
        spec,
        prompt_of,
        vacuum=VACUUM,
    )


def open_ledger(path: Path, plan: Plan) -> Ledger:
    return Ledger.open(path, make_meta(plan), plan)


def verdict_text(prompt: JudgePrompt) -> str:
    """Answer from the prompt alone, as a deterministic server would."""
    odd = int(hashlib.sha256(prompt.sha256.encode()).hexdigest(), 16) % 2
    return json.dumps({"verdict": ("SAFE", "UNSAFE")[odd], "confidence": 0.75})


class PromptJudge:
    """Answers from the prompt alone; `fault(n-th request of the call, call)` may raise first."""

    def __init__(
        self,
        fault: Callable[[int, Call], None] | None = None,
        *,
        delay: float = 0.0,
        cost: float | None = 0.001,
    ) -> None:
        self.spec = SPEC
        self.fault = fault
        self.delay = delay
        self.cost = cost
        self.asked: Counter[str] = Counter()
        self.order: list[Call] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = 0

    @property
    def requests(self) -> int:
        return self.asked.total()

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        self.asked[call.id] += 1
        self.order.append(call)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
            if self.fault is not None:
                self.fault(self.asked[call.id], call)
        finally:
            self.in_flight -= 1
        return Reply(
            text=verdict_text(prompt),
            finish_reason="stop",
            served_model="hash-1",
            system_fingerprint="fp",
            request_id=f"r{self.requests}",
            prompt_tokens=20,
            completion_tokens=5,
            cost=self.cost,
        )

    async def aclose(self) -> None:
        self.closed += 1


def parse(reply: Reply) -> Verdict:
    """Read the JSON above; the real parser has tests of its own."""
    body = json.loads(reply.text or "{}")
    return Verdict(outcome="verdict", label=body["verdict"], confidence=body["confidence"])


FAST = {"backoff_first": 0.001, "backoff_most": 0.002}


def ask_all(path, plan, judge, *, control=None, gate=None, reader=parse, **limits):
    async def story():
        with open_ledger(path, plan) as ledger:
            return await run_plan(
                plan,
                judge,
                ledger,
                limits=Limits(**{"concurrency": 8, **FAST, **limits}),
                control=control,
                gate=gate,
                parse=reader,
            )

    return asyncio.run(story())


def fails(times, error, only=lambda _: True):
    """Fail the first `times` requests of each chosen call."""

    def fault(nth, call):
        if nth <= times and only(call):
            raise error()

    return fault


def busy(**more):
    return lambda: TransientError("busy", status=503, **more)
