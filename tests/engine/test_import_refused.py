"""What `import` refuses, by file and line, and what it leaves behind then."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from import_world import HEAD, NAMED, facts, importing, refused, table

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError, JudgeAuditError, LedgerError

take = importing


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


# -- words and columns that would be lost unseen ------------------------------------------------


def test_a_meaning_of_a_word_that_is_not_there_is_told(take):
    text = HEAD + "a,base,0,harmful,ok\nb,base,0,fine,ok\n"
    words = {"label": ["harmful=UNSAFE", "fine=SAFE", "harmfull=UNSAFE"]}
    made = take(text, gold_label=["ok=SAFE", "okay=SAFE"], **words, **NAMED)
    told = " ".join(made.notes)
    assert "--label says what 'harmfull' means; no row has it." in told
    assert "--gold-label says what 'okay' means; no row has it." in told


def test_meanings_of_words_of_which_none_is_there_are_refused(take, tmp_path):
    text = HEAD + "a,base,0,unsafe,SAFE\nb,base,0,safe,SAFE\n"
    refused(
        take, tmp_path, text, "--label", "'harmfull'", "no row has that word", "There are 'unsafe'",
        error=ConfigError, label=["harmfull=UNSAFE"], **NAMED,
    )  # fmt: skip
    refused(
        take, tmp_path, text, "--gold-label", "'okay'", "There are 'SAFE'",
        error=ConfigError, gold_label=["okay=SAFE"], **NAMED,
    )  # fmt: skip


def test_a_meaning_of_gold_words_without_gold_is_refused(take, tmp_path):
    text = "id,condition,verdict\na,base,SAFE\n"
    refused(
        take, tmp_path, text, "there is no gold", "--gold COLUMN",
        error=ConfigError, gold_label=["ok=SAFE"],
    )  # fmt: skip


def test_breaking_down_by_gold_does_not_drop_it(take, tmp_path):
    text = "id,condition,verdict,gold\na,base,SAFE,UNSAFE\nb,base,SAFE,SAFE\n"
    refused(
        take, tmp_path, text, "'gold' is named for --strata, and nothing is the gold",
        "--gold gold", error=ConfigError, strata=["gold"],
    )  # fmt: skip
    made = take(text, strata=["gold"], gold="gold")
    assert [1, 0] == table(made).gold.tolist()
    assert ["UNSAFE", "SAFE"] == list(table(made).strata["gold"])
