"""From single searches to what can be said of the judge: shares of flips, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from judgeaudit.core.records.localised import Cause, Moved, Searched, Section, Share
from judgeaudit.cure.edits import Edits, Subset
from judgeaudit.cure.localise_rounds import Flip
from judgeaudit.cure.localise_search import ERROR
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.localising import beyond_error

__all__ = ["searched", "section"]

_SIZE = 0.05


def section(
    edits: Edits, flips: Sequence[Flip], n_compared: int, n_flips: int, *, level: float = 0.95
) -> Section:
    """Gather the searches of one condition.

    Parameters
    ----------
    edits : Edits
        Of the condition.
    flips : sequence of Flip
        Those that were begun.
    n_compared, n_flips : int
        Items and flips of the run.
    level : float
        Of the intervals.
    """
    status = Counter(f.found.status for f in flips if f.found is not None)
    traced = [f for f in flips if f.found is not None and f.found.status == "found"]
    seen = Counter(c for f in traced if f.found is not None for c in f.found.causes)
    causes = [_cause(edits, c, traced, len(seen), level) for c in seen]
    causes.sort(key=lambda c: (-c.part.n, len(c.edits), c.edits))
    moved = [_moved(edits, k, traced, level) for k in edits.keys if any(k in c for c in seen)]
    moved.sort(key=lambda m: -m.part.n)
    return Section(
        condition=edits.condition.id,
        wording=edits.rewrite.wording,
        summary=edits.condition.summary,
        n_compared=n_compared,
        n_flips=n_flips,
        n_begun=len(flips),
        n_real=len(traced),
        n_gone=status["gone"],
        n_unresolved=status["unresolved"],
        n_budget=status["budget"],
        causes=tuple(causes),
        edits=tuple(moved),
        base_text=edits.base.text,
        rewrite_text=edits.rewrite.text,
    )


def _share(hits: Sequence[bool], traced: Sequence[Flip], level: float) -> Share:
    values = np.array(hits, dtype=np.float64)
    clusters = np.unique([f.cluster for f in traced], return_inverse=True)[1].reshape(-1)
    interval = clustered_wilson(cluster_sums(values, clusters.astype(np.int64)), level=level)
    ends = (None, None) if isinstance(interval, Undefined) else (interval.low, interval.high)
    to = Counter(f.to for f, hit in zip(traced, hits, strict=True) if hit)
    return Share(
        n=int(values.sum()),
        of=len(traced),
        share=float(values.mean()),
        low=ends[0],
        high=ends[1],
        method=interval.reason if isinstance(interval, Undefined) else interval.method,
        to_unsafe=to["UNSAFE"],
        to_safe=to["SAFE"],
    )


def _causes(flip: Flip) -> tuple[Subset, ...]:
    return flip.found.causes if flip.found is not None else ()


def _cause(
    edits: Edits, cause: Subset, traced: Sequence[Flip], distinct: int, level: float
) -> Cause:
    hits = [cause in _causes(f) for f in traced]
    keys = edits.ordered(cause)
    by_chance = min(1.0, distinct * beyond_error(sum(hits), len(traced), ERROR))
    of = [f for f, hit in zip(traced, hits, strict=True) if hit]
    return Cause(
        edits=keys,
        names=tuple(edits.named(k).name for k in keys),
        whole=cause == edits.everything and len(cause) > 1,
        named=by_chance <= _SIZE,
        p_adjusted=by_chance,
        part=_share(hits, traced, level),
        kinds=dict(sorted(Counter(f.kind for f in of).items())),
        datasets=dict(sorted(Counter(f.dataset for f in of).items())),
    )


def _moved(edits: Edits, key: str, traced: Sequence[Flip], level: float) -> Moved:
    edit = edits.named(key)
    hits = [any(key in cause for cause in _causes(f)) for f in traced]
    alone = sum(frozenset((key,)) in _causes(f) for f in traced)
    return Moved(
        key=key,
        name=edit.name,
        norm=edit.norm,
        before=edit.before,
        after=edit.after,
        spans=edit.spans,
        alone=alone,
        part=_share(hits, traced, level),
    )


def searched(flip: Flip) -> Searched:
    """Return what is written of one flip."""
    assert flip.found is not None
    return Searched(
        item=flip.item,
        dataset=flip.dataset,
        cluster=flip.cluster,
        kind=flip.kind,
        condition=flip.edits.condition.id,
        base=flip.base,
        to=flip.to,
        status=flip.found.status,
        causes=tuple(flip.edits.ordered(c) for c in flip.found.causes),
        why=flip.found.why,
        log_e=round(flip.log_e, 6),
        calls=flip.calls,
        weak=flip.weak,
    )
