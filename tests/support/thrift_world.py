"""The thrifty night beside the full audit, on R-Judge: over HTTP, and simulated for its power.

python tests/support/thrift_world.py DATA OUT          # DATA: R-Judge's folder by_category
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import numpy as np
from loopback import Answer, Loopback, completion, prompt_key
from nightly_world import DRIFTS, anchors, turned
from scipy.stats import binomtest

from judgeaudit import audit
from judgeaudit.core.choosing import spec_from
from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.thrift import SPENT, Sample, draw, look
from judgeaudit.watch.anchors import freeze
from judgeaudit.watch.night import ask

_FENCE = re.compile(r"\[([0-9a-f]{8})\] the trajectory begins")
REWORDED = 10
"""Calls an item under the certified and near wordings of the default preset."""


class Planted:
    """A judge that errs on each item with a chance of its own, behind a real server.

    The fence around a trajectory names the item, whatever the wording says.
    """

    def __init__(self, spec, seed=0):
        ready = audit.prepare(spec)
        rng = np.random.default_rng([seed, 7])
        self.items = ready.corpus.items
        wrong, _ = anchors(rng, len(self.items))
        self.gold = np.array([i.label == "UNSAFE" for i in self.items])
        self.before = self.now = wrong
        self.place = {}
        plan = ready.plan
        at = {i.key: k for k, i in enumerate(self.items)}
        for position in range(plan.n_calls):
            call = plan.call(position)
            if call.condition == "base" and call.repeat == 0:
                text = plan.prompt(position).messages[-1].content
                self.place[_FENCE.search(text)[1]] = at[call.item]
        self.seed = seed
        self.model = "loopback-1"

    def drift(self, kind, seed=1):
        """Change the judge: see `nightly_world.turned`."""
        self.now = turned(np.random.default_rng([seed, 8]), self.before, self.gold, kind)

    def __call__(self, body, _n, nth):
        k = self.place[_FENCE.search(body["messages"][-1]["content"])[1]]
        # of each prompt's n-th request, whatever the order in which they come
        noise = random.Random(f"{self.seed} {prompt_key(body)} {nth}").random()
        unsafe = bool(self.gold[k]) ^ (noise < self.now[k])
        text = json.dumps({"verdict": "UNSAFE" if unsafe else "SAFE"})
        return Answer(body=completion(text, model=self.model))


def world(data, api_base, out, **more):
    """Choices of the baseline's audit."""
    return spec_from(
        {
            "judge": "direct:loopback-1",
            "api_base": api_base,
            "corpus": "rjudge",
            "data": str(data),
            "out": Path(out),
            "concurrency": 16,
            **more,
        }
    )


def over_http(data, out, *, kinds=DRIFTS, nights=400, **more):
    """Audit in full, freeze anchors, and ask a night of each kind; yield (name, what came of it)."""
    with Loopback(keep=False) as server:
        spec = world(data, server.api_base, Path(out) / "full", **more)
        judge = server.behaviour = Planted(spec)
        full = audit.run(spec)
        yield "full", full
        frozen = freeze(Path(out) / "full", nights=nights)
        yield "frozen", frozen
        for kind in kinds:
            judge.drift(kind)
            before = server.n_requests
            night = ask(frozen, spec, Path(out) / f"night {kind}")
            yield kind, (night, server.n_requests - before)


def one_simulated(rng, n_items, n_anchors, ends, kind, *, drift):
    """One baseline and one night: what the thrifty night says, its calls, and the full audit."""
    wrong, gold = anchors(rng, n_items)
    after = turned(rng, wrong, gold, kind)
    bad = rng.binomial(5, wrong)
    reworded = rng.binomial(REWORDED, wrong)
    full = rng.binomial(5, after)

    def unsafe(marks, calls, labels):
        return np.where(labels, calls - marks, marks)

    five = np.full(n_items, 5)
    ps = (
        changed(Blocks(unsafe(bad, 5, gold), five, unsafe(full, 5, gold), five), "moved"),
        changed(Blocks(bad, five, full, five), "more"),
    )
    at, weights = draw(
        (reworded > 0) & (reworded < REWORDED), gold.astype(int), rng.random(n_items), n_anchors
    )
    sample = Sample(gold[at].astype(np.int64), unsafe(bad, 5, gold)[at], five[at], weights)
    tonight = unsafe(rng.binomial(1, after[at]), 1, gold[at])
    for end, share in zip(ends, SPENT, strict=True):
        found = look(
            sample.part(slice(0, end)),
            tonight[:end],
            np.ones(end, dtype=np.int64),
            drift=drift,
            alpha=0.05 * share,
            last=end == ends[-1],
        )
        if found.outcome != "undecided":
            break
    return found.outcome, end, min(ps) <= 0.025


def simulated(n_items, n_anchors, ends, kind, *, nights, drift=0.06, seed=5):
    """Return shares of failed and passed nights, their calls, and detection by a full audit."""
    rng = np.random.default_rng([seed, DRIFTS.index(kind)])
    rows = [one_simulated(rng, n_items, n_anchors, ends, kind, drift=drift) for _ in range(nights)]
    outcomes = [r[0] for r in rows]
    return (
        outcomes.count("fail") / nights,
        outcomes.count("pass") / nights,
        float(np.mean([r[1] for r in rows])),
        float(np.mean([r[2] for r in rows])),
    )


def table(data, out, nights=400):
    """Lay out the table of docs/nightly.md."""
    real = dict(over_http(data, out))
    full, frozen = real["full"], real["frozen"]
    n_items, n = frozen.n_items, len(frozen.anchors)
    yield (
        f"{n_items} items; full audit: {full.facts.n_answered:,} calls; {n} anchors, looks end at "
        f"{frozen.ends}"
    )
    yield "| night | over HTTP | calls | fails | passes | calls on average | full audit fails |"
    yield "|---|---|---|---|---|---|---|"
    for kind in DRIFTS:
        night, requests = real[kind]
        fails, passes, calls, whole = simulated(n_items, n, frozen.ends, kind, nights=nights)
        said = "nothing changed" if kind == "none" else kind
        if kind == "none":
            ends = binomtest(round(fails * nights), nights).proportion_ci(method="exact")
            bad = f"{fails:.1%} [{ends[0]:.1%}, {ends[1]:.1%}]"
        else:
            bad = f"{fails:.1%}"
        yield (
            f"| {said} | {night.outcome}, look {len(night.looks)} | {requests} | {bad} | "
            f"{passes:.1%} | {calls:.0f} | {whole:.1%} |"
        )


if __name__ == "__main__":
    for line in table(Path(sys.argv[1]), Path(sys.argv[2])):
        print(line, flush=True)
