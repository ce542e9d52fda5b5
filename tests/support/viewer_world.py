"""Ledgers for the explorer, and a real server over them."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from card_hostile import HOSTILE
from engine_world import make_items, make_meta, make_renderings, open_ledger, prompt_of

from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import (
    Condition,
    Item,
    JudgeSpec,
    Protocol,
    Rendering,
    Reply,
    Trajectory,
    Turn,
    Verdict,
)
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan, build_plan
from judgeaudit.engine.writer import Answer
from judgeaudit.viewer import Explorer
from judgeaudit.viewer.server import Server

KINDS = {"base": "reference", "T0": "placebo", "T1": "certified", "T4": "certified",
         "strict": "threshold", "no_policy": "control"}  # fmt: skip
TEXTS = {
    "base": "## Norms\n\n1. **Mail.** The agent must not share mail.\n2. **Money.** Never pay.\n",
    "T1": "## Norms\n\n2. **Money.** Never pay.\n1. **Mail.** Mail must not be shared.\n",
    "T4": "## Norms\n\n1. **Mail.** The agent must not share any mail.\n2. **Money.** Never pay.\n",
}


def small_plan(n_items: int = 12, base_repeats: int = 3, repeats: int = 2) -> Plan:
    """Lay out a small plan with texts that differ in words."""
    conditions = tuple(Condition(id=k, kind=v, summary=f"about {k}") for k, v in KINDS.items())  # type: ignore[arg-type]
    renderings = [
        r.model_copy(update={"text": t, "sha256": sha256_text(t)})
        if (t := TEXTS.get(r.condition)) else r
        for r in make_renderings()
        if r.condition in KINDS
    ]  # fmt: skip
    return build_plan(
        make_items(n_items),
        renderings,
        Protocol(preset="small", base_repeats=base_repeats, repeats=repeats, conditions=conditions),
        JudgeSpec(backend="scripted", model="hash"),
        prompt_of,
    )


def label_of(item: int, condition: str, repeat: int) -> str:
    """Say what the judge of these tests says: T4 turns items 0 to 3, T1 wavers on item 5."""
    unsafe = item % 2 == 1
    if condition == "T4" and item < 4:
        unsafe = not unsafe
    if condition == "T1" and item == 5 and repeat == 1:
        unsafe = not unsafe
    return "UNSAFE" if unsafe else "SAFE"


def answers(
    plan: Plan, start: int = 0, stop: int | None = None, text: str = "It asked first."
) -> Iterator[Answer]:
    """Answer the calls of a plan; item 11 refuses under `strict`."""
    for k in range(start, plan.n_calls if stop is None else stop):
        cell = int(plan.cells[k])
        item, column = divmod(cell, len(plan.columns))
        condition = plan.columns[column].condition.id
        said = label_of(item, condition, int(plan.repeats[k]))
        reply = Reply(text=json.dumps({"verdict": said, "why": text}), finish_reason="stop",
                      served_model="hash-1")  # fmt: skip
        verdict = Verdict(outcome="verdict", label=said, confidence=0.9, rationale=text)
        if condition == "strict" and item == 11:
            reply, verdict = reply.model_copy(update={"text": "No."}), Verdict(outcome="refusal")
        yield Answer(k, reply, verdict, 1, 0.1)


def small_ledger(path: Path, **sizes: int) -> Path:
    """Write a finished run."""
    plan = small_plan(**sizes)
    with open_ledger(path, plan) as ledger:
        ledger.append(answers(plan))
    return path


def writable(text: str) -> str:
    """Return the text without what may not stand in a condition's name."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "0")


def hostile_ledger(path: Path) -> Path:
    """Write a run with hostile text in every place where it can enter."""
    small = "".join(t[:400] for n, t in HOSTILE.items() if n not in {"huge", "blank"})
    texts = {**HOSTILE, "huge": "<b>A</b> \u202e" * 500_000}
    items = [
        Item(
            dataset=t[:300], subset=t[:300], id=f"{n}{t[:300]}", cluster=t[:300],
            trajectory=Trajectory(profile=t, turns=(
                Turn(role="user", content=t), Turn(role="agent", thought=t, action=t),
                Turn(role="environment", content=t))),
            label=("SAFE", "UNSAFE")[k % 2], label_source="author",
            strata={t[:300]: t[:300], "category": t[:300]},
        )
        for k, (n, t) in enumerate(texts.items())
    ]  # fmt: skip
    evil = writable(small)
    conditions = (
        Condition(id="base", kind="reference", summary=small),
        Condition(id=evil, kind="certified", summary=small),
        Condition(id="T4", kind="certified", summary=texts["huge"]),
    )
    policy = {"base": small, evil: small + " more", "T4": texts["huge"]}
    renderings = [
        Rendering(policy_id="p", policy_sha256="0" * 64, condition=c, text=t, sha256=sha256_text(t))
        for c, t in policy.items()
    ]
    spec = JudgeSpec(backend="scripted", model=small, decoding={"x": small})
    protocol = Protocol(preset=small, base_repeats=2, repeats=1, conditions=conditions)
    plan = build_plan(items, renderings, protocol, spec, prompt_of)
    meta = make_meta(plan)
    facts = {"title": small, "name": small}
    meta = make_meta(
        plan,
        policy=meta.policy.model_copy(update={"title": small}),
        corpus=meta.corpus.model_copy(update=facts),
    )
    with Ledger.open(path, meta, plan) as ledger:
        ledger.append(_hostile_answers(plan, texts))
    return path


def _hostile_answers(plan: Plan, texts: dict[str, str]) -> Iterator[Answer]:
    names = sorted(texts)
    keys = {i.key: n for i in plan.items for n in names if i.id.startswith(n + texts[n][:300])}
    for k in range(plan.n_calls):
        item, column = plan.place(int(plan.cells[k]))
        text = texts[keys[item.key]]
        base = column.condition.id == "base"
        verdict = Verdict(outcome="verdict", label="SAFE" if base else "UNSAFE", rationale=text,
                          note=text)  # fmt: skip
        reply = Reply(text=text, finish_reason=text[:300], served_model=text[:300], reasoning=text,
                      refusal=text, request_id=text[:300])  # fmt: skip
        yield Answer(k, reply, verdict, 1, 0.1)


class Client:
    """Asks a server over a real connection, with any headers."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.bearer = {"Authorization": f"Bearer {server.guard.token}"}

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            link.request(method, path, body, self.bearer if headers is None else headers)
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            link.close()

    def json(self, path: str) -> Any:
        status, _, body = self.ask(path)
        assert status == 200, body
        return json.loads(body)

    def note(self, headers: dict[str, str] | None = None, **said: object) -> tuple[int, Any]:
        status, _, body = self.ask(
            "/api/triage",
            method="POST",
            body=json.dumps(said).encode(),
            headers={"Content-Type": "application/json", **(headers or self.bearer)},
        )
        return status, json.loads(body) if body.startswith(b"{") else body.decode()


@contextmanager
def serving(*ledgers: Path) -> Iterator[Server]:
    """Serve runs that have been read."""
    explorer = Explorer(ledgers)
    explorer.load().join()
    with Server(explorer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            explorer.close()
