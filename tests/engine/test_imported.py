"""Import of verdicts: right, or refused by line; nothing guessed silently, nothing half-written."""

from __future__ import annotations

import json
import math

import pytest
from import_world import HEAD, NAMED, cells, facts, importing, refused, table

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

take = importing


# -- what is right ----------------------------------------------------------------------------


def test_columns_by_flags(take):
    made = take(HEAD + "a,base,0,SAFE,UNSAFE\na,para,0,UNSAFE,UNSAFE\n", map=["para=T2"], **NAMED)
    assert frozenset() == made.guessed
    assert {("a", "base", 0, 0): "SAFE", ("a", "T2", 0, 0): "UNSAFE"} == cells(made)
    assert [1] == table(made).gold.tolist()
    assert {"base": "base", "para": "T2"} == made.conditions
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        assert [] == faults(view)
        assert view.n_planned == view.n_answered == 2


def test_a_guess_is_told(take):
    made = take("Item ID,Condition,Judge-Label\na,base,safe\n")
    assert {"item": "Item ID", "condition": "Condition", "verdict": "Judge-Label"} == made.columns
    assert set(made.columns) == made.guessed


@pytest.mark.parametrize(
    ("header", "verdict", "gold"),
    [
        ("id,condition,label,human_label", "label", "human_label"),
        ("id,condition,label,verdict", "verdict", "label"),
        ("id,condition,label,outcome", "label", None),
    ],
)
def test_label_beside_what_settles_it(take, header, verdict, gold):
    last = "verdict" if header.endswith("outcome") else "SAFE"
    made = take(f"{header}\na,base,SAFE,{last}\n")
    assert (verdict, gold) == (made.columns["verdict"], made.columns.get("gold"))


def test_repeats_are_counted_from_nought_in_their_order(take):
    made = take(HEAD + "a,base,17,SAFE,\na,base,4,UNSAFE,\na,T1,1,SAFE,\n", **NAMED)
    assert {
        ("a", "base", 0, 0): "UNSAFE",
        ("a", "base", 0, 1): "SAFE",
        ("a", "T1", 0, 0): "SAFE",
    } == cells(made)
    assert "Calls an item differ" not in " ".join(made.notes)


def test_rows_as_repeats_when_that_is_said(take):
    text = "id,condition,verdict\n" + "a,base,safe\n" * 2 + "a,base,unsafe\n"
    made = take(text, count_repeats=True)
    assert ["SAFE", "SAFE", "UNSAFE"] == [cells(made)["a", "base", 0, r] for r in range(3)]
    assert 3 == facts(made).protocol.base_repeats


def test_wide_tables(take):
    text = "id,b1,b2,t1,gold\na,safe,unsafe,safe,safe\nb,safe,,unsafe,\n"
    made = take(text, wide=["b1", "b2", "t1"], map=["b1=base", "b2=base", "t1=T1"], blank="skip")
    assert {
        ("a", "base", 0, 0): "SAFE",
        ("a", "base", 0, 1): "UNSAFE",
        ("a", "T1", 0, 0): "SAFE",
        ("b", "base", 0, 0): "SAFE",
        ("b", "T1", 0, 0): "UNSAFE",
    } == cells(made)
    assert [0, -1] == table(made).gold.tolist()
    assert any("1 row was left out: an empty verdict" in n for n in made.notes)


def test_one_text_is_as_good_as_a_list_of_one(take):
    made = take("id,condition,verdict\na,p,bad\n", map="p=base", label="bad=UNSAFE")
    assert {("a", "base", 0, 0): "UNSAFE"} == cells(made)


def test_wordings(take):
    text = "id,condition,verdict\na,base,safe\na,p,safe\na,q,unsafe\n"
    made = take(text, map={"p": "T2", "q": "T2/1"})
    assert "UNSAFE" == cells(made)["a", "T2", 1, 0]
    assert 2 == facts(made).protocol.wordings


def test_words_mean_what_is_said(take):
    text = "id,condition,verdict,gold\na,base,1,0\nb,base,Harmful,1\nc,base,n/a,\nd,base,,0\n"
    said = {"1": "UNSAFE", "0": "SAFE", "harmful": "unsafe", "n/a": "refusal"}
    made = take(text, label=said, blank="error")
    assert ["UNSAFE", "UNSAFE", "refusal", "error"] == [
        cells(made)[i, "base", 0, 0] for i in "abcd"
    ]
    assert [0, 1, -1, 0] == table(made).gold.tolist()
    f = facts(made)
    assert (4, 3, {"imported": 1}) == (f.n_planned, f.n_answered, f.failures)


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "csv", "tsv"])
def test_all_forms_are_one_table(tmp_path, form):
    import pandas as pd

    rows = [
        {"id": k, "condition": c, "repeat": r, "verdict": bool((k + r) % 2), "confidence": 0.5}
        for k in range(3)
        for c in ("base", "T1")
        for r in range(2)
    ]
    frame, path = pd.DataFrame(rows), tmp_path / f"t.{form}"
    {
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "json": lambda: frame.to_json(path, orient="records"),
        "parquet": lambda: frame.to_parquet(path),
        "csv": lambda: frame.to_csv(path),  # with the index: a column without a name
        "tsv": lambda: frame.to_csv(path, sep="\t", index=False),
    }[form]()
    made = audit.import_verdicts(
        path, out=tmp_path / "run", label={"true": "UNSAFE", "False": "SAFE"}
    )
    wanted = {
        (str(r["id"]), r["condition"], 0, r["repeat"]): "UNSAFE" if r["verdict"] else "SAFE"
        for r in rows
    }
    assert wanted == cells(made)


def test_bom_crlf_separators_in_fields_and_long_cells(take):
    odd = "x\u2028y\u2029z\x85" + "w" * 200_000
    text = f'\ufeffid,condition,verdict,text\r\na,base,safe,"{odd}\r\n, more"\r\nb,base,unsafe,t'
    made = take(text)
    assert {("a", "base", 0, 0): "SAFE", ("b", "base", 0, 0): "UNSAFE"} == cells(made)


def test_the_line_of_a_row_is_where_it_begins(take, tmp_path):
    text = 'id,condition,verdict,text\na,base,safe,"1\n2\n3"\nb,base,maybe,x\n'
    refused(take, tmp_path, text, "t.csv:5: ", "'maybe'")


def test_a_separator_that_was_not_named(take, tmp_path):
    for between, said in ((";", "--separator ';'"), ("\t", "--separator tab")):
        text = "id,condition,verdict\na,base,safe\n".replace(",", between)
        refused(take, tmp_path, text, "there is one column", said, error=ConfigError)
    assert {("a", "base", 0, 0): "SAFE"} == cells(take(text, separator="tab"))


def test_semicolons(take):
    made = take("id;condition;verdict\na;base;safe\n", separator=";")
    assert {("a", "base", 0, 0): "SAFE"} == cells(made)


def test_replies_are_parsed(take):
    rows = [
        {"id": "a", "text": "Verdict: SAFE"},
        {"id": "b", "text": "I would rather not say."},
        {"id": "c", "text": None},
    ]
    made = take("\n".join(map(json.dumps, rows)), "t.jsonl", reply="text", one_condition="base")
    assert ["SAFE", "unparseable", "unparseable"] == [cells(made)[i, "base", 0, 0] for i in "abc"]
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        assert [r["text"] for r in rows] == [r["text"] for r in view.rows()]


def test_confidence(take):
    text = "id,condition,verdict,confidence\na,base,safe,87%\nb,base,safe,0.5\nc,base,safe,\n"
    found = table(take(text)).confidence[:, 0, 0].tolist()
    assert pytest.approx([0.87, 0.5]) == found[:2]
    assert math.isnan(found[2])


def test_percent_when_that_is_said(take):
    text = "id,condition,verdict,confidence\na,base,safe,87\nb,base,safe,100\n"
    assert pytest.approx([0.87, 1]) == table(take(text, percent=True)).confidence[:, 0, 0].tolist()


def test_clusters_ambiguity_and_keys_of_ours(take):
    text = (
        "id,condition,verdict,cluster,ambiguous\n"
        "sample/web/2,base,safe,g,1\nsample/web/1,base,safe,g,0\nsample/os/3,base,safe,h,\n"
    )
    t = table(take(text))
    assert ("sample/os/3", "sample/web/1", "sample/web/2") == t.items
    assert [-1, 0, 1] == t.ambiguous.tolist()
    assert t.clusters[1] == t.clusters[2] != t.clusters[0]


def test_what_is_not_known_is_said(take):
    made = take("id,condition,verdict,gold\na,base,safe,safe\na,T2,safe,safe\n")
    card = audit.card(made.folder)
    told = {w.code: w for w in card.warnings}
    for part in ("t.csv", made.sha256[:12], "prompts", "policy's text", "decoding", "order"):
        assert part in told["imported"].sentence
    assert "serious" == told["uncertified"].severity
    assert "not stated" in told["labels_unknown"].sentence
    assert made.sha256 == card.facts.extra["imported"]["sha256"]
    assert "" == card.facts.policy.sha256
    from judgeaudit import cards

    text = cards.to_markdown(card)
    assert "interleaved" not in text
    assert "no seed sent" not in text
    assert "not known: its text was not given" in text


def test_what_is_stated_is_said_as_stated(take, tmp_path):
    prompt = tmp_path / "p.txt"
    prompt.write_text("Judge this.")
    made = take(
        "id,condition,verdict\na,base,safe\n",
        judge="acme/judge-9",
        decoding=["temperature=0", "stop=NaN"],
        prompt=prompt,
        policy="agent_safety",
    )
    card = audit.card(made.folder)
    assert {"temperature": 0, "stop": "NaN"} == card.facts.judge.decoding
    assert "acme/judge-9" == card.facts.judge.model
    assert "agent_safety" == card.facts.policy.id
    told = next(w.sentence for w in card.warnings if w.code == "imported")
    assert "prompts" not in told
    assert "the wordings" in told
    assert "--decoding temperature=0" in card.facts.extra["command"]
    assert str(tmp_path) not in card.facts.extra["command"]


def test_rewrites_are_pooled_only_on_a_certificate_or_ones_word(take, tmp_path):
    text = "id,condition,repeat,verdict\n" + "".join(
        f"i{k},{c},{r},{'unsafe' if k % 2 else 'safe'}\n"
        for k in range(12)
        for c in ("base", "T1")
        for r in range(2)
    )
    made = take(text)
    assert ("T1",) == made.not_pooled
    bare = audit.score(made.folder)
    assert 0.0 == bare.find("delta_paper", "T1").value
    assert (
        "no rewrite is certified, so none is pooled"
        == bare.find("delta_paper", "certified").why_undefined
    )
    sure = audit.import_verdicts(tmp_path / "t.csv", out=tmp_path / "two", assume_certified=True)
    assert () == sure.not_pooled
    assert 0.0 == audit.score(sure.folder).find("delta_paper", "certified").value
    codes = {w.code: w.severity for w in audit.card(sure.folder).warnings}
    assert "serious" == codes["assumed_certified"]
    assert "serious" == codes["uncertified"]


def test_texts_that_are_given_are_certified_by_reading_them(take, tmp_path):
    from judgeaudit import policy as policies

    policy = policies.load_policy("agent_safety")
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("base", "T1"):
        (texts / f"{name}.md").write_text(policies.render(policy, name).text, "utf-8")
    made = take(
        "id,condition,verdict\na,base,safe\na,T1,safe\n", policy="agent_safety", rewrites=texts
    )
    assert () == made.not_pooled
    assert {"base", "T1"} == {r.condition for r in facts(made).renderings}


def test_a_ledger_of_ours_comes_back(tmp_path):
    """Export and import: every score of the verdicts is the same."""
    audit.run(judge="scripted:brittle_t4", preset="quick", limit=12, out=tmp_path / "a")
    from judgeaudit.engine.export import export

    with Ledger.open_readonly(tmp_path / "a" / "ledger.sqlite") as view:
        export(view, tmp_path / "v.jsonl", "jsonl")
        mine = view.table()
    made = audit.import_verdicts(tmp_path / "v.jsonl", out=tmp_path / "b", assume_certified=True)
    theirs = table(made)
    assert mine.items == theirs.items
    assert {c: mine.counts(c).unsafe.tolist() for c in mine.conditions} == {
        c: theirs.counts(c).unsafe.tolist() for c in theirs.conditions
    }
    first, second = audit.score(tmp_path / "a"), audit.score(made.folder)
    for metric, condition in (("jitter", "base"), ("delta_debiased", "T4"), ("flip_rate", "T1")):
        assert first.find(metric, condition).value == second.find(metric, condition).value


def test_categories_of_items(take):
    """A column of categories becomes a stratum of each item; figures are broken down by it."""
    text = "item,condition,verdict,gold,risk,lang\n"
    text += "".join(
        f"i{k},base,{'UNSAFE' if k % 2 else 'SAFE'},{'UNSAFE' if k % 3 else 'SAFE'},"
        f"{'' if k == 7 else ('privacy', 'money')[k % 2]},{k % 2}\n"
        for k in range(12)
    )
    made = take(text, strata=["risk", "lang"])
    found = table(made).strata
    assert {"privacy", "money", ""} == set(found["risk"])
    assert {"0", "1"} == set(found["lang"])
    scores = audit.score(made.folder)
    row = scores.find("category_tpr", stratum="risk: privacy")
    assert 0.0 == row.value
    macro = scores.find("macro_tpr", stratum="risk")
    assert (2.0, 0.0, 1.0) == tuple(
        macro.detail[k] for k in ("categories", "left_out", "items_without_category")
    )
    assert pytest.approx(0.5) == macro.value


def test_an_item_in_two_categories_is_refused(take):
    text = "item,condition,verdict,risk\na,base,SAFE,x\na,T1,SAFE,y\n"
    with pytest.raises(CorpusError, match=r"has risk 'y' here and 'x' in .*line 2"):
        take(text, strata="risk")
    with pytest.raises(ConfigError, match=r"no column 'rsk' \(--strata\); did you mean 'risk'"):
        take(text, strata="rsk")
