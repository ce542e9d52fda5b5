"""Two runs on common items: written-out tables, categories, and the command on real ledgers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from score_tables import written
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.stats import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.metrics.compared import compared, first_verdicts


def judge(verdicts: dict[str, str], gold: dict[str, str | None], **more):
    return written({k: {"base": v} for k, v in verdicts.items()}, gold=gold, **more)


def named(scores):
    return {(s.metric, s.stratum): s for s in scores}


GOLD = {f"i{k:02d}": "UNSAFE" if k < 20 else "SAFE" for k in range(40)}


def pair():
    """The first misses i00..i07, the second i06..i08; the first alarms on i20, the second never."""
    one = {k: "U" if g == "UNSAFE" else "S" for k, g in GOLD.items()}
    two = dict(one)
    one |= {f"i{k:02d}": "S" for k in range(8)} | {"i20": "U"}
    two |= {f"i{k:02d}": "S" for k in range(6, 9)}
    return one, two


def test_each_event_is_compared_on_its_items():
    one, two = pair()
    found = named(compared(judge(one, GOLD), judge(two, GOLD)))
    missed = found["difference_missed", None]
    assert (20, 0.25) == (missed.n_items, missed.value)
    assert (2, 6, 1, 11) == tuple(
        missed.detail[k] for k in ("both", "first_only", "second_only", "neither")
    )
    assert pytest.approx(mcnemar([[2, 6], [1, 11]], exact=True).pvalue) == missed.p_value
    assert "exact McNemar" == missed.p_method
    assert missed.low < 0.25 < missed.high
    alarms = found["difference_false_alarms", None]
    assert (20, 0.05, 1.0) == (alarms.n_items, alarms.value, alarms.p_value)
    unsafe = found["difference_unsafe", None]
    assert pytest.approx((12 + 1 - 17) / 40) == unsafe.value
    back = named(compared(judge(two, GOLD), judge(one, GOLD)))["difference_missed", None]
    assert pytest.approx((-missed.high, -missed.low)) == (back.low, back.high)
    assert missed.p_value == back.p_value


def test_clusters_are_the_unit():
    one, two = pair()
    clusters = {k: str(int(k[1:]) // 4) for k in GOLD}
    s = named(compared(judge(one, GOLD, clusters=clusters), judge(two, GOLD)))[
        "difference_missed", None
    ]
    assert ("exact sign flip of clusters", 5) == (s.p_method, s.n_clusters)
    # +4, +2, -1 in three clusters: 2 of 8 flips are as far from 0 as 5, and 2 at 7
    assert pytest.approx(4 / 8) == s.p_value
    assert "adjusted t over clusters" == s.method


def test_categories_are_corrected():
    rng = np.random.default_rng(6)
    n = 300
    gold = {f"i{k:03d}": "UNSAFE" for k in range(n)}
    one = {k: "SU"[rng.random() < 0.6] for k in gold}
    two = {k: "SU"[rng.random() < 0.75] for k in gold}
    first = judge(one, gold)
    kinds = tuple("abc"[k % 3] if k else "" for k in range(n))
    first = replace(first, strata={"category": kinds})
    scores = compared(first, judge(two, gold), by="category")
    rows = [s for s in scores if s.metric == "difference_missed" and s.stratum]
    assert ["category=a", "category=b", "category=c"] == [s.stratum for s in rows]
    plain = [s.p_value for s in rows]
    assert pytest.approx(list(multipletests(plain, method="holm")[1])) == [
        s.p_adjusted for s in rows
    ]
    theirs = multipletests(plain, method="fdr_bh")[1]
    assert pytest.approx(list(theirs)) == [s.detail["p_bh"] for s in rows]
    assert n - 1 == sum(s.n_items for s in rows)
    overall = named(scores)["difference_missed", None]
    assert (n, None) == (overall.n_items, overall.p_adjusted)
    nothing = named(scores)["difference_false_alarms", "category=a"]
    assert "no item labelled SAFE has a verdict in both runs" == nothing.why_undefined
    assert nothing.p_value is None


def test_what_cannot_be_compared_is_left_out_and_counted():
    one = {"a": "U", "b": "-U", "c": "--", "d": "S", "e": "U", "f": "S"}
    two = {"a": "S", "b": "U", "c": "U", "d": "S", "e": "U", "g": "S"}
    gold = dict.fromkeys("abcdef", "UNSAFE")
    found = named(compared(judge(one, gold), judge(two, {**gold, "d": "SAFE"})))
    s = found["difference_unsafe", None]
    assert (3, 1.0, 1.0, 2.0) == (
        s.n_items,
        s.detail["without_a_verdict"],
        s.detail["labelled_otherwise"],
        s.detail["not_in_both"],
    )
    assert [1, 1, -1, 0, 1, 0] == first_verdicts(judge(one, gold)).tolist()
    assert [-1] * 6 == first_verdicts(judge(one, gold), "T1").tolist()


def test_runs_that_share_nothing_and_unknown_descriptors_are_refused():
    one, two = judge({"a": "U"}, {}), judge({"b": "U"}, {})
    with pytest.raises(ConfigError, match="no item in common"):
        compared(one, two)
    with pytest.raises(ConfigError, match="unknown descriptor of items 'x'"):
        compared(one, one, by="x")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two judges' verdicts, imported as runs."""
    out = tmp_path_factory.mktemp("runs")
    for name, verdicts in zip("ab", pair(), strict=True):
        words = {"S": "SAFE", "U": "UNSAFE"}
        rows = [f"{k},base,0,{words[v]},{GOLD[k]}" for k, v in verdicts.items()]
        table = out / f"{name}.csv"
        table.write_text("\n".join(["item_id,condition,repeat,verdict,gold", *rows]) + "\n")
        audit.import_verdicts(table, out=out / name)
    return out / "a", out / "b"


def test_the_command_compares_two_ledgers(runs):
    done = CliRunner().invoke(app, ["compare-runs", *map(str, runs)])
    assert 0 == done.exit_code, done.exception
    assert "missed violations  +0.250 [" in done.stdout
    assert "p 0.125" in done.stdout
    assert "only the first 6, only the second 1 of 20" in done.stdout
    assert "exact McNemar" in done.stdout
    made = json.loads(CliRunner().invoke(app, ["compare-runs", *map(str, runs), "--json"]).stdout)
    assert 3 == len(made["scores"])
    refused = CliRunner().invoke(app, ["compare-runs", *map(str, runs), "--by", "category"])
    assert "unknown descriptor of items 'category'" in str(refused.exception)
