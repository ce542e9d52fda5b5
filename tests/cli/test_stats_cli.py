"""`judgeaudit stats`: what a user types, and sees; bad numbers give one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.stats import app
from judgeaudit.core.errors import ConfigError

VERBS = {
    "upper-bound": ("0", "300"),
    "interval": ("2", "3"),
    "wilson": ("2", "200"),
    "rule-of-three": ("100",),
    "sample-size": ("0.01", "--relative-error", "0.2"),
    "deployment": ("1e6", "--rate", "1e-6"),
    "worst-of-k": ("5", "--events", "1", "--samples", "20"),
    "quantile": ("0.9", "1", "2", "5", "5"),
    "asr": ("2", "200", "--queries", "10", "--categories", "5"),
    "compare": ("36", "12", "2", "0"),
    "compare-rates": ("2", "200", "8", "1000"),
    "holm": ("a=0.01", "b=0.04"),
    "bh": ("0.01", "0.04"),
    "any-of": ("20",),
    "agreement": ("2", "5", "5", "88"),
    "rogan-gladen": ("--apparent", "0.1", "--se", "0.9", "--sp", "0.95"),
    "pis": ("--delta", "0.036", "--direction", "1", "--undue", "0.305"),
}


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert 0 == done.exit_code, (done.output, done.exception)
    return done.stdout


def refused(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert isinstance(done.exception, ConfigError), (words, done.output, done.exception)
    assert "" == done.stdout
    return str(done.exception)


def test_every_verb_is_tried():
    # compare-runs reads ledgers: tests/metrics/test_compared.py
    assert {*VERBS, "compare-runs"} == {c.name for c in app.registered_commands}


@pytest.mark.parametrize("verb", VERBS)
def test_every_answer_has_its_number_formula_and_source(verb):
    text = run(verb, *VERBS[verb])
    answer = json.loads(run(verb, *VERBS[verb], "--json"))
    assert verb == answer["calculator"]
    assert answer["formula"] in text
    assert answer["source"] in text
    assert all(note in text for note in answer["notes"])
    first, value = next(iter(answer["found"].items()))
    assert isinstance(value, float | int)
    line = text.splitlines()[0]
    assert line.startswith(first)
    shown = line.removeprefix(first).strip().replace(",", "")
    assert pytest.approx(value, rel=1e-5) == float(shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("upper-bound 5 3", "cannot be more events than trials"),
        ("upper-bound 0 0", "Without a trial"),
        ("upper-bound -1 3", "X is '-1'. It must be a whole number, 0 or more"),
        ("upper-bound abc 3", "X is 'abc'"),
        ("upper-bound 1.5 3", "X is '1.5'"),
        ("upper-bound 0 nan", "N is 'nan'"),
        ("upper-bound 0 inf", "N is 'inf'"),
        ("upper-bound 0 1e99", "at most 1e15"),
        ("interval 0 10 --level 95", "--level is '95'"),
        ("interval 0 10 --level 1", "between 0 and 1"),
        ("wilson 0 10 --level nan", "--level is 'nan'"),
        ("rule-of-three 0", "Without a trial"),
        ("sample-size 0", "above 0, up to 1"),
        ("sample-size 5%", "0.05, not 5 or 5%"),
        ("sample-size 0.1 --relative-error 0", "a number from 1e-06 to 10"),
        ("sample-size 0.1 --relative-error 0.1 --z -2", "a number above 0"),
        ("deployment 100", "Give exactly one"),
        ("deployment 100 --rate 0.1 --target 0.1", "Give exactly one"),
        ("deployment 100 --events 1", "go together"),
        ("deployment 100 --events 3 --trials 2", "--events is 3 and --trials is 2"),
        ("deployment 100 --target 1", "from 0 to below 1"),
        ("deployment 0 --rate 0.5", "1 or more"),
        ("worst-of-k 5 --events 1 --samples 3", "as many samples as tries"),
        ("worst-of-k 5 --rate 1.1", "--rate is '1.1'"),
        ("worst-of-k 5", "needs either"),
        ("worst-of-k 0 --rate 0.1", "1 or more"),
        ("quantile 1 3 4", "between 0 and 1"),
        ("quantile 0.9", "needs scores"),
        ("quantile 0.9 3 x", "score 2 is 'x'. It must be a number"),
        ("quantile 0.9 3 nan", "score 2 is 'nan'"),
        ("asr 2 200", "without its budget says nothing"),
        ("asr --queries 1 --categories 1", "Give one of them"),
        ("asr 3 2 --queries 1 --categories 1", "cannot be more events"),
        ("asr --campaign 3 --queries 1 --categories 1", "successes/attempts"),
        ("asr --campaign 3/2 --queries 1 --categories 1", "cannot be more events"),
        ("asr --first 3 --queries 1 --categories 1", "17/50, or -/50"),
        ("asr --first 9/5 --queries 1 --categories 1", "--first: the attempt is 9"),
        ("asr 1 2 --budget 3 --queries 1 --categories 1", "--budget goes with --first"),
        ("compare 1 2 3", "3 counts were given"),
        ("compare 1 x", "SECOND is 'x'"),
        ("compare 0 0 0 0", "all counts are 0"),
        ("compare-rates 3 2 0 1", "X1 is 3 and N1 is 2"),
        ("compare-rates 500000000 1000000000 500000001 1000000000", "more than 5,000,000 tables"),
        ("sample-size 0.1 --relative-error 1e-200", "a number from 1e-06 to 10"),
        ("holm a=2", "a is '2'"),
        ("holm a=0.1 a=0.2", "two p-values are called 'a'"),
        ("bh 0.1 none", "test 2 is 'none'"),
        ("any-of 0", "1 or more"),
        ("agreement 0 0 0 0", "all counts are 0"),
        ("agreement 1 2 3", "3 counts were given"),
        ("rogan-gladen --apparent 2 --se 1 --sp 1", "--apparent is '2'"),
        ("pis --delta 2 --direction 1 --undue 0", "a number from -1 to 1"),
        ("pis --delta 0 --direction 1 --undue 0 --weights 1,1,1", "add up to 1"),
        ("pis --delta 0 --direction 1 --undue 0 --weights 1,0", "Give three"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(words, said):
    message = refused(*words.split())
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("words", ["upper-bound 5 3", "wilson 0 nan", "quantile 0.9 x"])
def test_a_refusal_is_one_line_and_exit_code_two(words):
    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", "stats", *words.split()],
        env=os.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (2, "") == (done.returncode, done.stdout)
    assert 1 == len(done.stderr.splitlines())
    assert done.stderr.startswith("judgeaudit: ")


def test_a_file_of_scores(tmp_path):
    file = tmp_path / "scores.txt"
    file.write_text("\ufeff1\n5\r\n\n3\n", encoding="utf-8")
    found = json.loads(run("quantile", "0.5", "--file", str(file), "--json"))
    assert (3.0, 5.0) == (found["found"]["quantile"], found["found"]["largest"])
    assert "scores for a limit on this side" in found["why_undefined"]["upper limit"]
    file.write_text("1\ntwo\n", encoding="utf-8")
    assert "line 2 is 'two'" in refused("quantile", "0.5", "--file", str(file))
    file.write_text("\n", encoding="utf-8")
    assert "no score" in refused("quantile", "0.5", "--file", str(file))


def test_dependent_attempts_are_warned_of_and_clustered():
    budget = ("--queries", "1", "--categories", "2")
    alone = run("asr", "20", "200", *budget)
    assert "if attempts depend on earlier ones" in alone
    words = [w for _ in range(3) for w in ("--campaign", "0/50")]
    together = json.loads(run("asr", "--campaign", "20/50", *words, *budget, "--json"))
    assert any("campaigns are the unit" in note for note in together["notes"])
    single = json.loads(run("asr", "20", "200", *budget, "--json"))
    assert together["found"]["upper limit"] > 2 * single["found"]["upper limit"]
    one = json.loads(run("asr", "--campaign", "5/50", *budget, "--json"))
    assert one["found"]["upper limit"] is None
    assert "says nothing of the next" in one["why_undefined"]["upper limit"]


def test_success_is_reported_per_budget():
    budgets = ("--budget", "10", "--budget", "50")
    campaigns = ("--first", "3/3", "--first", "-/50", "--first", "20/20")
    made = run("asr", *campaigns, *budgets, "--queries", "2", "--categories", "1", "--json")
    found = json.loads(made)["found"]
    assert pytest.approx(1 / 3) == found["within 10 attempts"]
    assert pytest.approx(2 / 3) == found["within 50 attempts"]
    assert 2 == found["budget: queries an attempt"]


def test_undefined_is_none_with_a_reason():
    answer = json.loads(run("agreement", "0", "0", "0", "100", "--json"))
    assert answer["found"]["Cohen's kappa"] is None
    assert "only one label" in answer["why_undefined"]["Cohen's kappa"]
    assert "none: neither ever says UNSAFE" in run("agreement", "0", "0", "0", "100")
    text = run("rogan-gladen", "--apparent", "0.2", "--se", "0.5", "--sp", "0.5")
    assert "none: sensitivity and specificity together do not exceed 1" in text
    clipped = run("rogan-gladen", "--apparent", "0.02", "--se", "0.9", "--sp", "0.97")
    assert "brought back into 0 to 1" in clipped


def test_the_inverse_names_the_trials_that_would_show_it():
    text = run("deployment", "1e6", "--target", "0.05")
    assert "5.12933e-08" in text
    assert "58,403,975 independent trials" in text
    assert "--relative-error" in run("sample-size", "0.01")
    assert "read the upper limit" in run("deployment", "100", "--events", "0", "--trials", "30")


def test_numbers_too_small_or_too_long_are_not_printed_as_certainty():
    assert "below 2e-308" in run("compare", "0", "1000000", "0", "0").splitlines()[0]
    assert run("sample-size", "1e-300").splitlines()[0].endswith("2.99573e+300")
