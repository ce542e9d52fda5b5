"""Components of variance: against a slow reference, and against what was planted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.components import PARTS, variance_components

PLANTED = dict(zip(PARTS, (0.01, 0.02, 0.003, 0.004, 0.002, 0.003), strict=False))


def signs(rng, variance, *shape):
    """Effects of two points, so that their variance is exactly this."""
    return rng.choice([-1.0, 1.0], size=shape) * np.sqrt(variance)


def planted(rng, v, *, clusters=40, size=3, conditions=4, wordings=2, repeats=3, main=None):
    """Draw a table around .5; `main` fixes the effects of conditions and wordings."""
    n = clusters * size
    both = (
        signs(rng, v["condition"], conditions)[:, None]
        + signs(rng, v["wording"], conditions, wordings)
        if main is None
        else main
    )
    p = (
        0.5
        + np.repeat(signs(rng, v["cluster"], clusters), size)[:, None, None]
        + signs(rng, v["item"], n)[:, None, None]
        + both[None]
        + signs(rng, v["item x condition"], n, conditions)[:, :, None]
        + signs(rng, v["item x wording"], n, conditions, wordings)
    )
    unsafe = rng.binomial(repeats, p).reshape(n, -1)
    return (
        unsafe,
        np.full(unsafe.shape, repeats),
        np.repeat(np.arange(conditions), wordings),
        np.repeat(np.arange(clusters), size),
    )


def slow(unsafe, valid, of, clusters):
    """Go through all pairs of calls, one by one; every (condition, wording) mean counts once."""
    calls = [
        (i, j, r, int(r < unsafe[i, j]))
        for i in range(unsafe.shape[0])
        for j in range(unsafe.shape[1])
        for r in range(valid[i, j])
    ]
    cells: dict = {}
    for a, b in itertools.combinations(calls, 2):
        i, j, _, y = a
        k, m, _, z = b
        how = (
            "same" if i == k else "near" if clusters[i] == clusters[k] else "far",
            min(j, m),
            max(j, m),
        )
        # pairs of calls of one pair of cells are averaged first, as the items count equally
        cells.setdefault(how, {}).setdefault((min(i, k), max(i, k), i < k, j <= m), []).append(
            y != z
        )

    def half(how, j, m):
        found = cells.get((how, min(j, m), max(j, m)), {})
        return 0.5 * np.mean([np.mean(v) for v in found.values()]) if found else np.nan

    conditions = sorted(set(of.tolist()))
    cols = {c: np.flatnonzero(of == c).tolist() for c in conditions}
    mean = np.nanmean

    def inside(how):
        return {c: mean([half(how, a, a) for a in cols[c]]) for c in conditions}

    def between(how):
        return mean(
            [
                mean([half(how, a, b) for a in cols[c] for b in cols[d]])
                for c, d in itertools.combinations(conditions, 2)
            ]
        )

    def wordings(how):
        return {
            c: mean([half(how, a, b) for a, b in itertools.combinations(cols[c], 2)])
            if len(cols[c]) > 1
            else np.nan
            for c in conditions
        }

    far, same, near = inside("far"), inside("same"), inside("near")
    w = mean([x - far[c] if not np.isnan(x) else 0 for c, x in wordings("far").items()])
    mixed = mean([x - same[c] if not np.isnan(x) else 0 for c, x in wordings("same").items()])
    repeat, base, within = (mean(list(d.values())) for d in (same, far, near))
    condition = between("far") - base - w
    ic = between("same") - repeat - mixed - condition
    return {
        "cluster": base - within,
        "item": within - repeat - (mixed - w) - ic,
        "condition": condition,
        "item x condition": ic,
        "wording": w,
        "item x wording": mixed - w,
        "repeat": repeat,
    }, between("far")


def test_against_all_pairs():
    """Uneven clusters and wordings, the same number of calls a cell."""
    rng = np.random.default_rng(1)
    clusters = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    of = np.array([0, 1, 1, 2, 2, 2])
    unsafe = rng.binomial(3, rng.random((8, 6)))
    valid = np.full(unsafe.shape, 3)
    found = variance_components(unsafe, valid, of, clusters)
    parts, total = slow(unsafe, valid, of, clusters)
    assert pytest.approx(total) == found.total
    assert pytest.approx(parts) == found.parts
    assert pytest.approx(found.total) == sum(found.parts.values())


def test_missing_cells_against_all_pairs():
    rng = np.random.default_rng(2)
    clusters = np.array([0, 0, 1, 1, 2, 3, 4, 4, 5])
    of = np.array([0, 1, 2])
    valid = np.where(rng.random((9, 3)) < 0.25, 0, 2)
    unsafe = rng.binomial(valid, 0.4)
    keep = valid.sum(axis=1) > 0
    found = variance_components(unsafe, valid, of, clusters)
    parts, total = slow(unsafe[keep], valid[keep], of, clusters[keep])
    assert pytest.approx(total) == found.total
    for name in ("cluster", "item", "condition", "item x condition", "repeat"):
        assert pytest.approx(parts[name]) == found.parts[name], name


def test_planted_components_are_found_without_bias():
    rng = np.random.default_rng(0)
    runs = 120
    drawn = np.array(
        [
            [f.parts[k] for k in PARTS]
            for f in (variance_components(*planted(rng, PLANTED)) for _ in range(runs))
        ]
    )
    truth = [*PLANTED.values(), 0.25 - sum(PLANTED.values())]
    error = drawn.std(axis=0, ddof=1) / np.sqrt(runs)
    assert np.all(np.abs(drawn.mean(axis=0) - truth) < 4 * error)


@pytest.mark.slow
def test_intervals_cover():
    """Over clusters, for fixed conditions and wordings: at least .93 of nominal .95."""
    rng = np.random.default_rng(5)
    v = PLANTED
    main = signs(rng, v["condition"], 4)[:, None] + signs(rng, v["wording"], 4, 2)
    wording = np.mean((main[:, 0] - main[:, 1]) ** 2) / 2
    apart = np.mean(
        [
            (main[a, i] - main[b, j]) ** 2 / 2
            for a, b in itertools.combinations(range(4), 2)
            for i in range(2)
            for j in range(2)
        ]
    )
    truth = v | {"wording": wording, "condition": apart - wording}
    call = np.mean((0.5 + main) * (0.5 - main))
    truth["repeat"] = call - sum(
        v[k] for k in ("cluster", "item", "item x condition", "item x wording")
    )
    total, runs, hits = sum(truth.values()), 500, dict.fromkeys(PARTS, 0)
    for _ in range(runs):
        found = variance_components(*planted(rng, v, clusters=60, size=2, main=main))
        for k in PARTS:
            hits[k] += found.shares[k].low <= truth[k] / total <= found.shares[k].high
    assert min(hits.values()) / runs >= 0.93, hits


def test_matched_pairs_are_a_negative_share_of_clusters():
    unsafe = np.tile([[3, 3], [0, 0]], (20, 1))
    found = variance_components(
        unsafe, np.full(unsafe.shape, 3), np.array([0, 1]), np.repeat(np.arange(20), 2)
    )
    # items of other clusters differ half the time, those of one cluster always
    assert pytest.approx(-0.25) == found.parts["cluster"]
    assert pytest.approx(0.5) == found.parts["item"]
    assert 0.0 == found.parts["repeat"]


def test_what_was_never_seen_has_no_interval_of_no_width():
    """No repeat differs: the share of repeats is 0, and nothing says that it will stay so."""
    unsafe = np.tile([[3, 3], [0, 0], [3, 0]], (10, 1))
    found = variance_components(unsafe, np.full((30, 2), 3), np.array([0, 1]), np.arange(30))
    assert 0.0 == found.parts["repeat"]
    assert Undefined("the same whichever clusters are left out") == found.shares["repeat"]
    assert isinstance(found.shares["item"], Interval)


def test_what_cannot_be_told():
    two, one = np.array([0, 1]), np.array([0])
    some = np.array([[1, 2], [0, 1], [2, 2]])
    of3 = np.arange(3)
    assert Undefined("no call ended in a verdict") == variance_components(
        np.zeros((3, 2), int), np.zeros((3, 2), int), two, of3
    )
    assert Undefined("fewer than two clusters") == variance_components(
        some, np.full((3, 2), 2), two, np.zeros(3, int)
    )
    assert Undefined("no item was asked twice under one wording") == variance_components(
        np.minimum(some, 1), np.ones((3, 2), int), two, of3
    )
    assert Undefined("no two calls disagree") == variance_components(
        np.zeros((3, 2), int), np.full((3, 2), 2), two, of3
    )
    alone = variance_components(some[:, :1], np.full((3, 1), 2), one, of3)
    assert Undefined("one condition") == alone.parts["condition"]
    assert isinstance(alone.parts["cluster"], Undefined)
    assert isinstance(alone.shares["repeat"], Undefined)
    assert pytest.approx(alone.total) == alone.parts["item"] + alone.parts["repeat"]


def test_one_call_a_condition():
    """The paper's layout: noise is measured under base, and the condition says so."""
    rng = np.random.default_rng(3)
    valid = np.tile([3, 1], (30, 1))
    found = variance_components(rng.binomial(valid, 0.5), valid, np.array([0, 1]), np.arange(30))
    assert (1,) == found.unrepeated
    assert isinstance(found.shares["repeat"], Interval)


def test_order_and_names_do_not_matter():
    rng = np.random.default_rng(4)
    unsafe, valid, of, clusters = planted(rng, PLANTED, clusters=12)
    order = rng.permutation(len(clusters))
    a = variance_components(unsafe, valid, of, clusters)
    b = variance_components(unsafe[order], valid[order], of, 7 * clusters[order] + 3)
    assert pytest.approx(a.parts) == b.parts
    assert pytest.approx(a.parts) == variance_components(valid - unsafe, valid, of, clusters).parts
