"""Scores from which a card draws its curves, and a run that has them all."""

from __future__ import annotations

from dataclasses import replace

from card_runs import CASES, Run, s


def bin_(k: int, p: float, found: float, n: int):
    detail = {"bin": k, "bin_low": (k - 1) / 10, "bin_high": k / 10, "mean_p": p, "n": n}
    return s(
        *("reliability", None, found, max(0, found - 0.1), min(1, found + 0.1)),
        stratum=f"bin {k}",
        numerator=found * n,
        denominator=float(n),
        unit="fraction of items",
        detail=detail,
    )


def curve(metric: str, start: str, points: dict[str, float], **more):
    return s(
        *(metric, None, 0.5, 0.4, 0.6),
        detail={f"{start}{x}": y for x, y in points.items()} | more,
    )


THREE = [
    s("delta_paper", "certified", 0.04, 0.01, 0.07),
    s("direction_ratio", None, 0.9, 0.8, 0.95),
    s("undue_share", None, 0.2, 0.1, 0.3),
    s("pis", None, 0.47, 0.3, 0.6),
]
MOVES = [
    s("forward_rate", None, 0.2, 0.1, 0.3),
    s("reverse_rate", None, 0.05, 0.01, 0.1),
    s("unsafe_rate", "strict", 0.5, 0.4, 0.6),
    s("unsafe_rate", "lenient", 0.35, 0.25, 0.45),
]


def drawn_run() -> Run:
    """Make a run whose card holds every plot."""
    drawn = [*THREE, *MOVES, bin_(1, 0.02, 0.1, 40), bin_(10, 0.97, 0.8, 60)]
    drawn.append(curve("partial_auroc", "tpr_at_", {"0": 0.1, "0.05": 0.5, "0.1": 0.7}))
    drawn.append(curve("aurc", "risk_at_", {"0.5": 0.1, "1": 0.2}, chance=0.2))
    known = {(x.metric, x.condition) for x in drawn}
    made = CASES["fragile"]()
    kept = [x for x in made.scores.scores if (x.metric, x.condition) not in known]
    return replace(made, scores=made.scores.model_copy(update={"scores": (*kept, *drawn)}))
