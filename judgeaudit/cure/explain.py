"""What the items of a run have in common that flip, checked on clusters that were held out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgeaudit._version import __version__
from judgeaudit.cards.clean import clean, one_line
from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import Rendering
from judgeaudit.core.records.explained import Contrast, Explained, Side, SideBySide
from judgeaudit.cure.explain_features import Base, features_of
from judgeaudit.cure.seeds import check_seed
from judgeaudit.engine.view import LedgerView
from judgeaudit.review.questions import items_of
from judgeaudit.stats._types import BoolArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.explaining import held_out, sign_flip_p
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.ranking import auroc

__all__ = ["FILE", "explain", "norms_named"]

FILE: Final = "explain.json"
"""Beside the ledger of the run."""

_LEAST_FLIPS: Final = 10
_NUMBERED: Final = re.compile(r"^(?:(\d+)\. |- )\*\*(.+?)\.?\*\*", re.MULTILINE)
_CITED: Final = re.compile(
    r"\b(?:norms?|rules?|policy|section|item)\s*#?\s*(\d{1,3})\b", re.IGNORECASE
)

_Rows = dict[str, list[dict[str, Any]]]


def explain(view: LedgerView, conditions: Sequence[str] = (), *, seed: int = 0) -> Explained:
    """Compare the items whose verdict flips with all others.

    An item flips where most of its calls under a condition say the opposite of most base calls,
    under any of the conditions.

    Parameters
    ----------
    view : LedgerView
        The run.
    conditions : sequence of str
        By default all certified ones.
    seed : int
        Of the folds and of the random signs.

    Raises
    ------
    ConfigError
        If the run does not have a condition, the seed is negative, or no item can be compared.
    """
    check_seed(seed)
    known = {
        c.id: c
        for c in view.meta.protocol.conditions
        if c.kind in ("certified", "near") and c.side == "policy"
    }
    for id_ in conditions:
        if id_ not in known:
            raise ConfigError(unknown_name("condition of this run", id_, list(known)))
    chosen = tuple(conditions) or tuple(i for i, c in known.items() if c.kind == "certified")
    rows = _rows(view)
    items, base_id = items_of(view), view.meta.protocol.reference.id
    base = {k: b for k, by in rows.items() if (b := _base_of(by.get(base_id, []))) is not None}
    flips: dict[str, list[str]] = {}
    for key in sorted(base):
        others = {c: _unsafe(rows[key].get(c, [])) for c in chosen}
        told = {c: u for c, u in others.items() if u is not None}
        if told:
            flips[key] = [c for c, u in told.items() if u != base[key].unsafe]
    if not flips:
        raise ConfigError(
            "no item has a verdict both under the base and under a rewrite",
            where=str(view.path),
            mend="Explain a run with certified conditions",
        )
    of = [items[k] for k in flips]
    y = np.array([bool(flips[i.key]) for i in of], dtype=np.bool_)
    clusters = np.unique([i.cluster for i in of], return_inverse=True)[1].reshape(-1)
    level = view.meta.protocol.level
    features = features_of(of, base)
    figures = _figures(features, y, clusters.astype(np.int64), level=level, seed=seed)
    told_of = [
        s for key, by in flips.items() for c in by[:1] if (s := _side_by_side(view, rows[key], c))
    ]
    return Explained(
        version=__version__,
        judge=f"{view.meta.judge.backend}:{view.meta.judge.model}",
        policy=view.meta.policy.id,
        conditions=chosen,
        plan_sha256=view.plan_sha256,
        n_items=len(of),
        n_clusters=int(np.unique(clusters).size),
        n_flips=int(y.sum()),
        level=level,
        n_both_cite=sum(s.another is not None for s in told_of),
        n_another=sum(s.another is True for s in told_of),
        rationales=tuple(told_of),
        **figures,
    )


def _rows(view: LedgerView) -> dict[str, _Rows]:
    """Return the calls with a verdict, in the first wording, by item and condition."""
    out: dict[str, _Rows] = defaultdict(lambda: defaultdict(list))
    for row in view.rows():
        if row["outcome"] == "verdict" and row["wording"] == 0:
            out[row["item"]][row["condition"]].append(row)
    return out


def _unsafe(rows: Sequence[Mapping[str, Any]]) -> bool | None:
    counts = Counter(r["label"] for r in rows)
    if counts["SAFE"] == counts["UNSAFE"]:
        return None
    return counts["UNSAFE"] > counts["SAFE"]


def _base_of(rows: Sequence[Mapping[str, Any]]) -> Base | None:
    unsafe = _unsafe(rows)
    if unsafe is None:
        return None
    sure = [r["confidence"] for r in rows if r["confidence"] is not None]
    wavers = len({r["label"] for r in rows}) > 1
    return Base(unsafe, wavers, float(np.mean(sure)) if len(sure) == len(rows) else None)


# ---- what goes along with a flip -----------------------------------------------------------


def _figures(
    features: Mapping[str, BoolArray1D],
    y: BoolArray1D,
    clusters: IntArray1D,
    *,
    level: float,
    seed: int,
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "auroc": None, "low": None, "high": None, "explains": False, "why_not": "", "contrasts": (),
    }  # fmt: skip
    few = min(int(y.sum()), int((~y).sum()))
    if few < _LEAST_FLIPS:
        what = "flip" if y.sum() <= (~y).sum() else "do not flip"
        return out | {"why_not": f"only {few} items {what}, and it takes {_LEAST_FLIPS}"}
    if not features:
        return out | {"why_not": "no feature divides the items"}
    p = {k: sign_flip_p(x.astype(np.float64), y, clusters, seed=seed) for k, x in features.items()}
    adjusted = holm(p)
    contrasts = [
        Contrast(
            feature=name,
            having=_side(y[x], clusters[x], level),
            lacking=_side(y[~x], clusters[~x], level),
            p_value=p[name],
            p_adjusted=adjusted[name],
        )
        for name, x in features.items()
    ]
    contrasts.sort(key=lambda c: (c.p_value, c.feature))
    wide = np.column_stack([x.astype(np.float64) for x in features.values()])
    found = auroc(held_out(wide, y, clusters, seed=seed), y, clusters, level=level)
    out["contrasts"] = tuple(contrasts)
    if isinstance(found.value, Undefined):
        return out | {"why_not": found.value.reason}
    out["auroc"] = found.value
    if isinstance(found.interval, Interval):
        out |= {"low": found.interval.low, "high": found.interval.high}
        out["explains"] = found.interval.low > 0.5
    else:
        out["why_not"] = found.interval.reason
    return out


def _side(y: BoolArray1D, clusters: IntArray1D, level: float) -> Side:
    interval = clustered_wilson(cluster_sums(y.astype(np.float64), clusters), level=level)
    ends = (None, None) if isinstance(interval, Undefined) else (interval.low, interval.high)
    rate = float(y.mean()) if y.size else None
    return Side(flips=int(y.sum()), items=int(y.size), rate=rate, low=ends[0], high=ends[1])


# ---- the judge's own words -----------------------------------------------------------------


def norms_named(words: str, rendering: Rendering) -> tuple[str, ...]:
    """Return the titles of the norms that a rationale names, by title or by number.

    Parameters
    ----------
    words : str
        The rationale.
    rendering : Rendering
        The text that was asked: its numbers are those that the judge saw.
    """
    head = rendering.text.partition("\n## Verdict")[0]
    titles = {m[2]: m[1] for m in _NUMBERED.finditer(head) if m[1]}
    numbers = set(_CITED.findall(words))
    said = words.casefold()
    return tuple(sorted(t for t, n in titles.items() if n in numbers or _whole(t.casefold(), said)))


def _whole(title: str, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(title)}(?!\w)", said) is not None


def _side_by_side(view: LedgerView, rows: _Rows, condition: str) -> SideBySide | None:
    base_id = view.meta.protocol.reference.id
    texts = {(r.condition, r.wording): r for r in view.meta.renderings}
    sides = []
    for id_ in (base_id, condition):
        unsafe = _unsafe(rows[id_])
        label = "UNSAFE" if unsafe else "SAFE"
        told = [r for r in rows[id_] if r["label"] == label and r["rationale"]]
        told.sort(key=lambda r: int(r["repeat"]))
        sides.append((rows[id_][0]["item"], label, told[0]["rationale"] if told else ""))
    (item, before, first), (_, after, second) = sides
    if not first or not second:
        return None
    named = [
        norms_named(words, texts[id_, 0]) for words, id_ in ((first, base_id), (second, condition))
    ]
    return SideBySide(
        item=item,
        condition=condition,
        base=before,
        to=after,
        base_words=one_line(clean(first)),
        other_words=one_line(clean(second)),
        base_norms=named[0],
        other_norms=named[1],
        another=set(named[0]) != set(named[1]) if named[0] and named[1] else None,
    )


def path_of(folder: Path) -> Path:
    """Return where the record lies beside a run's ledger."""
    return folder / FILE
