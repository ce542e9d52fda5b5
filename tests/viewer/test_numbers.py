"""What the page counts is what the metrics count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from engine_world import open_ledger
from viewer_world import answers, label_of, small_ledger, small_plan

from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.view import LedgerView
from judgeaudit.scoring import score
from judgeaudit.viewer import Explorer
from judgeaudit.viewer.choosing import Cursor, Filters
from judgeaudit.viewer.flips import FLIPPED, UNANSWERED, WAVERING, jitter
from judgeaudit.viewer.index import RunIndex
from judgeaudit.viewer.listing import PAGE, page
from judgeaudit.viewer.overview import overview
from judgeaudit.viewer.source import Source


@pytest.fixture(scope="module")
def explorer(made):
    explorer = Explorer([made])
    explorer.load().join()
    yield explorer
    explorer.close()


def test_counts_are_those_of_the_verdict_table(made, explorer):
    with LedgerView(made) as view:
        table = view.table()
    run = explorer.runs[0]
    assert list(table.columns) == [(c.condition, c.wording) for c in run.index.columns]
    assert list(table.items) == list(run.index.items.keys)
    assert ((table.codes == 1).sum(axis=2) == run.index.counts.unsafe).all()
    assert ((table.codes == 0).sum(axis=2) == run.index.counts.safe).all()
    assert ((table.codes >= 2).sum(axis=2) == run.index.counts.failed).all()
    assert run.index.n_answered == run.index.n_planned == table.codes[table.codes >= 0].size


def test_the_flip_rate_is_that_of_the_card(made, explorer):
    with LedgerView(made) as view:
        scores = score(view.table(), view.meta.protocol, seed=0, uncertified=frozenset())
    shown = {c["raw"]: c["flip_rate"] for c in overview(explorer)["runs"][0]["conditions"]}
    for condition in ("T0", "T1", "T4", "strict", "no_policy"):
        found = scores.find("flip_rate", condition)
        assert found is not None
        assert found.value == pytest.approx(shown[condition])
    assert shown["base"] is None


def test_flips_are_told_from_wavering_and_unanswered(explorer):
    run = explorer.runs[0]
    names = [run.index.columns[k].condition for k in run.index.contrasts]
    keys = run.index.items.keys

    def cells(code):
        rows, columns = np.nonzero(run.flips.outcome == code)
        return {(keys[r].split("/")[-1], names[c]) for r, c in zip(rows, columns, strict=True)}

    order = [k.split("/")[-1] for k in keys]
    assert {(order[k], "T4") for k in range(4)} == cells(FLIPPED)
    assert {(order[5], "T1")} == cells(WAVERING)
    assert {(order[11], "strict")} == cells(UNANSWERED)


def test_jitter_is_the_share_of_pairs_that_disagree():
    assert jitter(0, 1) is None
    assert jitter(0, 5) == 0
    assert jitter(2, 5) == pytest.approx(6 / 10)


def test_a_page_follows_the_last_one_and_nothing_is_lost_or_doubled(tmp_path):
    small_ledger(tmp_path / "ledger.sqlite", n_items=60, base_repeats=2, repeats=1)
    explorer = Explorer([tmp_path / "ledger.sqlite"] * 2)
    explorer.load().join()
    for filters in (Filters(transform="all", outcome="all"),
                    Filters(transform="all", outcome="all", sort="plan")):  # fmt: skip
        seen, after = [], ""
        while after is not None:
            found = page(explorer, filters, after=after)
            assert len(found["rows"]) <= PAGE
            seen += [(r["run"], r["cell"]) for r in found["rows"]]
            after = found["next"]
        assert found["total"] == len(seen) == len(set(seen)) == 2 * 60 * 5
        if filters.sort == "plan":
            assert seen == sorted(seen)
    explorer.close()


def test_a_cursor_stays_a_place_when_its_cell_is_gone(explorer):
    chosen = explorer.select(Filters(transform="all", outcome="any_flip"))
    assert [1.0, 1.0, 1.0, 1.0] == chosen.share[:4].tolist()
    gone = Cursor(0.75, 0, 3)
    assert chosen.after(gone) == 4
    assert Cursor.of(gone.word()) == gone
    with pytest.raises(ConfigError, match="no place"):
        Cursor.of("1_2")


@pytest.mark.parametrize(
    ("filters", "n"),
    [
        ({}, 4),
        ({"transform": "T4"}, 4),
        ({"transform": "T1"}, 0),
        ({"transform": "kind:certified"}, 4),
        ({"transform": "kind:threshold"}, 0),
        ({"direction": "to_unsafe"}, 2),
        ({"direction": "to_safe"}, 2),
        ({"outcome": "wavering"}, 1),
        ({"outcome": "any_flip"}, 5),
        ({"outcome": "unanswered", "transform": "all"}, 1),
        ({"outcome": "failed", "transform": "strict"}, 1),
        ({"outcome": "all", "transform": "all"}, 60),
        ({"outcome": "same", "transform": "all"}, 54),
        ({"label": "UNSAFE"}, 2),
        ({"label": "none"}, 0),
        ({"dataset": "toy"}, 4),
        ({"dataset": "other"}, 0),
        ({"category": "domain=mail", "outcome": "all", "transform": "T4"}, 6),
        ({"judge": "0"}, 4),
        ({"judge": "1"}, 0),
        ({"triage": "unmarked"}, 4),
        ({"triage": "marked"}, 0),
        ({"q": "thing 10,"}, 1),
        ({"q": "THING"}, 4),
        ({"q": "asked FIRST"}, 4),
        ({"q": "100%"}, 0),
        ({"q": "t_ing"}, 0),
        ({"q": "toy//1"}, 3),
        ({"q": "bank"}, 2),
    ],
)  # fmt: skip
def test_filters(explorer, filters, n):
    assert n == explorer.select(Filters.of(filters)).n


def test_clear_and_ambiguous(explorer):
    everything = {"outcome": "all", "transform": "T4"}
    found = {c: explorer.select(Filters.of({**everything, "clarity": c})).n
             for c in ("clear", "ambiguous", "unknown")}  # fmt: skip
    assert {"clear": 4, "ambiguous": 4, "unknown": 4} == found


@pytest.mark.parametrize(
    "wrong", [{"outcome": "x"}, {"judge": "-1"}, {"judge": "²"}, {"sort": "x"}]
)
def test_a_value_that_is_none_of_a_filters_is_refused(wrong):
    with pytest.raises(ConfigError):
        Filters.of(wrong)


def test_a_run_that_goes_on_is_taken_in_bit_by_bit(tmp_path):
    """Answers above and below the highest position so far; the same counts as reading anew."""
    path, plan = tmp_path / "ledger.sqlite", small_plan()
    with open_ledger(path, plan) as ledger:
        index = RunIndex(Source(path))
        assert index.update()
        assert not index.update()
        rows = list(answers(plan))
        late = [r for k, r in enumerate(rows) if k % 7 == 3]
        rest = [r for k, r in enumerate(rows) if k % 7 != 3]
        for some in (rest[:50], late[:5], rest[50:], late[5:]):
            ledger.append(some)
            assert index.update()
            fresh = RunIndex(Source(path))
            fresh.update()
            for part in ("safe", "unsafe", "failed"):
                mine, anew = (getattr(i.counts, part) for i in (index, fresh))
                assert (mine == anew).all()
        assert index.n_answered == plan.n_calls


def test_every_way_of_saying_a_verdict_is_counted_once(explorer):
    run, expected = explorer.runs[0], Counter()
    for item in range(12):
        for repeat in range(2):
            expected[label_of(item, "T4", repeat)] += 1
    k = [c.condition for c in run.index.columns].index("T4")
    assert expected["UNSAFE"] == run.index.counts.unsafe[:, k].sum()
    assert expected["SAFE"] == run.index.counts.safe[:, k].sum()
