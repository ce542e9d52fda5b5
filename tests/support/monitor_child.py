"""A process that makes a monitor's card of arrays in a file: table, scores, card, HTML."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

CATEGORIES = 30
NAMED = ("agreement", "calibration", "brier", "auroc")


def main(arrays: str, page: str, which: str) -> None:
    """Load, score, write the page; print what was made, and the CPU and memory of all of it."""
    import numpy as np
    from card_runs import CREATED, facts

    from judgeaudit.cards import build, to_html
    from judgeaudit.core.records import Condition, Protocol
    from judgeaudit.core.table import VerdictTable
    from judgeaudit.scoring import MONITOR, score

    whole = ("accuracy", "tpr", "tnr", "missed_bound", "false_alarm_bound", "worst_of_k")
    whole += (*MONITOR, "agreement", "abstention")
    with np.load(arrays) as held:
        gold, codes, p, clusters = (held[k] for k in ("gold", "codes", "p", "clusters"))
    n = gold.size
    risks = tuple(f"risk {k}" for k in range(CATEGORIES))
    table = VerdictTable(
        items=tuple(map(str, range(n))),
        clusters=clusters,
        gold=gold,
        ambiguous=np.full(n, -1, np.int8),
        columns=(("base", 0),),
        codes=codes[:, None, None],
        strata={"risk": tuple(risks[k % CATEGORIES] for k in range(n))},
        p_unsafe=p[:, None, None],
        p_sources=("logprobs",),
    )
    protocol = Protocol(
        preset="bench",
        base_repeats=1,
        repeats=1,
        conditions=(Condition(id="base", kind="reference"),),
    )
    scores = score(table, protocol, metrics=NAMED if which == "named" else whole)
    card = build(facts(protocol=protocol, n_planned=n, n_answered=n), scores, created=CREATED)
    Path(page).write_text(to_html(card), encoding="utf-8")
    used = resource.getrusage(resource.RUSAGE_SELF)
    made = {
        f"{s.metric} {s.stratum or ''}".strip(): (s.value, s.low, s.high)
        for s in scores.scores
        if not s.metric.startswith("category_")
    }
    cost = {"cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}
    print(json.dumps({**cost, "scores": len(scores.scores), "made": made}))


if __name__ == "__main__":
    main(*sys.argv[1:])
