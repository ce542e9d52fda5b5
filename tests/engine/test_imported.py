"""Import of verdicts: right, or refused by line; nothing guessed silently, nothing half-written."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError, JudgeAuditError, LedgerError
from judgeaudit.core.table import CODES
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

HEAD = "id,wording,k,label,truth\n"
NAMED = {
    "item": "id",
    "condition": "wording",
    "repeat": "k",
    "verdict": "label",
    "gold": "truth",
}


@pytest.fixture
def take(tmp_path: Path):
    """Import a text as a file; return what was imported, with its table and facts."""

    def run(text: str | bytes, name: str = "t.csv", **choices):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return audit.import_verdicts(path, out=tmp_path / "run", **choices)

    return run


def table(made):
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        return view.table()


def facts(made):
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        return view.facts()


def cells(made) -> dict[tuple[str, str, int, int], str]:
    """Return item id, condition, wording, repeat -> code name."""
    t, names = table(made), {v: k for k, v in CODES.items()}
    return {
        (t.items[i].rpartition("/")[2], *t.columns[j], r): names[int(t.codes[i, j, r])]
        for i in range(t.n_items)
        for j in range(len(t.columns))
        for r in range(t.codes.shape[2])
        if t.codes[i, j, r] >= 0
    }


def refused(take, tmp_path: Path, text, *parts: str, error=CorpusError, name="t.csv", **choices):
    """Assert a refusal that says all parts in one line, with exit code 2, and leaves nothing."""
    with pytest.raises(error) as caught:
        take(text, name, **choices)
    said = str(caught.value)
    for part in parts:
        assert part in said, said
    assert "\n" not in said
    assert 2 == caught.value.exit_code
    assert [name] == [p.name for p in tmp_path.iterdir()]
    return said


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


# -- what is refused --------------------------------------------------------------------------

TOP = "id,condition,verdict\n"


@pytest.mark.parametrize(
    ("text", "parts", "choices"),
    [
        ("", ["the file is empty"], {}),
        ("\ufeff\r\n", ["the file is empty"], {}),
        (TOP, ["no rows below the header"], {}),
        (TOP + "a,base,maybe\n", ["t.csv:2", "verdict is 'maybe'", "--label maybe=UNSAFE"], {}),
        (TOP + "a,base,1\n", ["t.csv:2", "'1'", "nobody said what that means"], {}),
        (TOP + "a,base,nan\n", ["t.csv:2", "'nan'"], {}),
        (TOP + "a,base,safe\nb,base,\n", ["t.csv:3", "empty", "--blank"], {}),
        (TOP + ",base,safe\n", ["t.csv:2", "item is empty"], {}),
        (TOP + "a ,base,safe\n", ["t.csv:2", "blanks at an end"], {}),
        (TOP + '"a\u2028b",base,safe\n', ["t.csv:2", "control characters"], {}),
        (TOP + "a,t2,safe\n", ["t.csv:2", "unknown condition 't2'", "T2", "--map"], {}),
        (TOP + "a,base\n", ["t.csv:2", "2 cells where the header has 3"], {}),
        (TOP + 'a,base,"safe\n', ["t.csv:2", "is not CSV"], {}),
        ("id,id,condition\na,b,base\n", ["t.csv:1", "'id' stands twice"], {}),
        (
            TOP + "a,base,safe\na,base,safe\n",
            ["t.csv:3", "twice, in line 2 and line 3, both SAFE", "--count-repeats"],
            {},
        ),
        (
            TOP + "a,base,safe\nb,base,safe\na,base,unsafe\n",
            ["t.csv:4", "line 2 and line 4, with different verdicts: SAFE and UNSAFE"],
            {},
        ),
        (
            "id,condition,verdict,repeat\na,base,safe,-1\n",
            ["t.csv:2", "repeat is '-1'", "whole number"],
            {},
        ),
        ("id,condition,verdict,repeat\na,base,safe,1.5\n", ["t.csv:2", "repeat is '1.5'"], {}),
        (
            "id,condition,verdict,gold\na,base,safe,safe\na,T1,safe,unsafe\n",
            ["t.csv:3", "gold UNSAFE here and SAFE in line 2"],
            {},
        ),
        (
            "id,condition,verdict,cluster\na,base,safe,g\na,T1,safe,h\n",
            ["t.csv:3", "cluster h here and g in line 2"],
            {},
        ),
        (
            "id,condition,verdict,confidence\na,base,safe,87\n",
            ["t.csv:2", "'87' is not from 0 to 1", "--percent", "--unknown-confidence"],
            {},
        ),
        ("id,condition,verdict,confidence\na,base,safe,101%\n", ["t.csv:2", "'101%'"], {}),
        (
            "id,condition,outcome,label\na,base,refusal,SAFE\n",
            ["t.csv:2", "outcome is 'refusal'", "verdict 'SAFE'"],
            {},
        ),
        (
            "id,b,t\na,safe,safe\na,safe,safe\n",
            ["t.csv:3", "second row, the first is line 2", "--repeat COLUMN"],
            {"wide": ["b", "t"], "map": ["b=base", "t=T1"]},
        ),
        (
            TOP + "a,p,safe\n",
            ["t.csv:2: 'p' is said to be 'T9'", "unknown condition"],
            {"map": "p=T9"},
        ),
        (
            TOP + "a,p,safe\na,q,safe\n",
            ["t.csv:3", "unknown condition 'q'"],
            {"map": ["p=base"]},
        ),
    ],
)
def test_refused_by_line(take, tmp_path, text, parts, choices):
    refused(take, tmp_path, text, *parts, **choices)


@pytest.mark.parametrize(
    ("text", "parts", "choices"),
    [
        ("x,condition,verdict\na,base,safe\n", ["known to be the item", "'x'", "--item"], {}),
        ("id,verdict\na,safe\n", ["known to be the condition", "--one-condition base"], {}),
        (
            "id,item_id,condition,verdict\na,b,base,safe\n",
            ["'id', 'item_id' could each be the item", "--item id"],
            {},
        ),
        (
            "id,condition,label\na,base,safe\n",
            ["'label' may be the judge's verdict or the true label", "--gold label"],
            {},
        ),
        (TOP + "a,base,safe\n", ["no column 'verdit'", "did you mean 'verdict'?"], {"verdict": "verdit"}),
        (TOP + "a,base,safe\n", ["'id' is named for --item and for --gold"], {"item": "id", "gold": "id"}),
        (TOP + "a,p,safe\n", ["not of the form NAME=MEANING"], {"map": ["p"]}),
        (TOP + "a,base,safe\n", ["'q', which is not in the table"], {"map": ["q=T1"]}),
        (
            TOP + "a,base,safe\n",
            ["takes 'p' and 'q' for one and the same", "T1/1"],
            {"map": ["p=T1", "q=T1"]},
        ),
        (TOP + "a,base,safe\n", ["unknown meaning 'bad'"], {"label": ["x=bad"]}),
        (TOP + "a,base,safe\n", ["'safe' is said to mean UNSAFE"], {"label": ["safe=UNSAFE"]}),
        (TOP + "a,base,safe\n", ["unknown meaning of a blank 'x'"], {"blank": "x"}),
        (TOP + "a,base,safe\n", ["--p-unsafe and --p-source go together"], {"p_unsafe": "verdict"}),
        (TOP + "a,base,safe\n", ["unknown choice 'itme'", "did you mean 'item'?"], {"itme": "id"}),
        (TOP + "a,base,safe\n", ["--wide does not go with --verdict"], {"wide": ["id"], "verdict": "verdict"}),
        (TOP + "a,base,safe\n", ["separator"], {"separator": "||"}),
        (TOP + "a,base,safe\n", ["decoding cannot be written as JSON"], {"decoding": {"x": math.nan}}),
    ],
)  # fmt: skip
def test_choices_that_cannot_be(take, tmp_path, text, parts, choices):
    refused(take, tmp_path, text, *parts, error=ConfigError, **choices)


def test_ids_of_two_types_are_refused(take, tmp_path):
    rows = [{"id": 1, "condition": "base"}, {"id": "1", "condition": "T1"}]
    text = "\n".join(json.dumps(r | {"verdict": "safe"}) for r in rows)
    refused(take, tmp_path, text, "t.jsonl:2", "'1'", "line 1", "one item", name="t.jsonl")


@pytest.mark.parametrize("value", [float("nan"), None])
def test_a_missing_label_in_parquet_is_refused(tmp_path, value):
    import pandas as pd

    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"id": ["a", "b"], "condition": "base", "verdict": [1.0, value]})
    frame.to_parquet(path)
    with pytest.raises(CorpusError, match=r"t\.parquet, row 2: the verdict is") as caught:
        audit.import_verdicts(path, out=tmp_path / "run", label={"1": "UNSAFE"})
    assert "\n" not in str(caught.value)


def test_json_that_is_none(take, tmp_path):
    good = '{"id": "a", "condition": "base", "verdict": "safe"}\n'
    refused(take, tmp_path, good + '{"id": NaN}\n', "t.jsonl:2", "NaN", name="t.jsonl")
    refused(take, tmp_path, good + "{\n", "t.jsonl:2", "not JSON", name="t.jsonl")
    refused(take, tmp_path, good + "[1]\n", "t.jsonl:2", "not an object", name="t.jsonl")
    bad = good.replace('"a"', '"a\\ud800"')
    refused(take, tmp_path, bad, "t.jsonl:1", "surrogate", name="t.jsonl")


def test_parquet_by_another_name_or_broken(take, tmp_path):
    refused(take, tmp_path, b"PAR1\x00\xff", "is Parquet by its content")
    (tmp_path / "t.csv").unlink()
    refused(take, tmp_path, b"PAR1\x00", "cannot be read as parquet", name="t.parquet")


def test_identical_rows_can_be_left_out_and_are_counted(take):
    text = TOP + "a,base,safe\na,base,safe\nb,base,safe\n"
    made = take(text, drop_identical=True)
    assert 2 == made.n_calls
    assert any("1 row was left out: they say again" in n for n in facts(made).corpus.notes)


def test_identical_rows_do_not_hide_different_ones(take, tmp_path):
    text = TOP + "a,base,safe\na,base,unsafe\n"
    refused(take, tmp_path, text, "with different verdicts", drop_identical=True)


def test_conditions_can_be_dropped_and_are_counted(take):
    made = take(TOP + "a,base,safe\na,persona,safe\n", drop=["persona"])
    assert ["1 row was left out: condition persona, by --drop."] == [
        n for n in made.notes if "left out" in n
    ]


def test_a_folder_that_is_taken(take, tmp_path):
    text = TOP + "a,base,safe\n"
    made = take(text)
    before = (made.folder / "ledger.sqlite").read_bytes()
    with pytest.raises(LedgerError, match="there is something here already"):
        take(text)
    assert before == (made.folder / "ledger.sqlite").read_bytes()
    assert {"t.csv", "run"} == {p.name for p in tmp_path.iterdir()}


def test_a_killed_import_leaves_no_run(tmp_path):
    """Killed after a batch is on the disk: there is no folder that looks like a run."""
    rows = "".join(f"i{k},base,safe\n" for k in range(500))
    (tmp_path / "t.csv").write_text(TOP + rows)
    child = textwrap.dedent(
        """
        import itertools, os, signal, sys
        from judgeaudit import audit
        from judgeaudit.engine.ledger import Ledger
        whole = Ledger.append
        def some(self, rows):
            whole(self, itertools.islice(rows, 200))
            assert self.n_answered == 200
            os.kill(os.getpid(), signal.SIGKILL)
        Ledger.append = some
        audit.import_verdicts("t.csv", out="run")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", child], cwd=tmp_path, env=os.environ, check=False, timeout=120
    )
    assert -signal.SIGKILL == done.returncode
    assert not (tmp_path / "run").exists()
    audit.import_verdicts(tmp_path / "t.csv", out=tmp_path / "run")


def test_nobody_can_be_asked_again(take):
    made = take(TOP + "a,base,safe\n")
    with pytest.raises(JudgeAuditError, match="belongs to another run"):
        audit.run(judge="scripted:quiet", preset="quick", limit=2, out=made.folder)
