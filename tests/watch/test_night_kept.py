"""What a night may not lose or spoil: its verdict, its store, the baseline's folder, its anchors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from loopback import Answer, Loopback, completion
from watch_world import cli, corpus, imported, judge

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.watch import History
from judgeaudit.watch.anchors import read_anchors
from judgeaudit.watch.night_result import Asked, NightResult, Reworded
from judgeaudit.watch.outputs import junit_of_night


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A baseline, and anchors frozen of it."""
    home = tmp_path_factory.mktemp("kept")
    done = cli(
        *("audit", "--judge", "scripted:quiet", "--preset", "quick"),
        *("--out", home / "base", "--quiet"),
    )
    assert 0 == done.exit_code, done.output
    done = cli("nightly", "freeze", home / "base", "--anchors", home / "a.json", "--drift", 0.4)
    assert 0 == done.exit_code, done.output
    return home


def night(home, out, *more, who="scripted:quiet"):
    frozen = ("--anchors", home / "a.json", "--out", out)
    return cli("nightly", "run", *frozen, "--judge", who, "--quiet", *more)


@pytest.mark.parametrize("store", ["http://127.0.0.1:9/x", "/dev/null/x", "memory://x"])
def test_a_store_that_cannot_be_used_is_refused_before_the_first_call(home, tmp_path, store):
    done = night(home, tmp_path / "night", "--store", store)
    assert isinstance(done.exception, JudgeAuditError)
    assert 2 == done.exception.exit_code
    assert store in str(done.exception)
    assert done.exception.mend
    assert not (tmp_path / "night").exists()


def test_a_damaged_store_is_refused_and_a_good_one_left_as_it_is(home, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "history.sqlite").write_text("no database, " * 99)
    done = night(home, tmp_path / "night", "--store", tmp_path / "bad")
    assert isinstance(done.exception, JudgeAuditError)
    assert not (tmp_path / "night").exists()


@pytest.mark.parametrize("who", ["scripted:quiet", "scripted:noisy"])
def test_a_verdict_is_printed_though_the_store_then_refuses_it(home, tmp_path, who):
    """The store is of other items: readable and writable, and yet it cannot take the night."""
    other = imported(tmp_path / "other", {"x": "SS", "y": "UU"}, {"x": "SAFE", "y": "UNSAFE"})
    store = tmp_path / "store"
    assert 0 == cli("history", "add", other, "--store", store).exit_code
    done = night(home, tmp_path / "night", "--store", store, who=who)
    outcome = json.loads((tmp_path / "night" / "night.json").read_text())["outcome"]
    assert done.stdout.startswith(f"{outcome}: ")
    assert (1 if outcome == "fail" else 3) == done.exit_code
    (line,) = done.stderr.strip().splitlines()
    assert "the night was not added to" in line
    assert line.endswith("nothing is asked twice")
    assert 1 == len(History(store).nights())


def test_memory_is_no_store_for_a_command(home):
    done = cli("history", "add", home / "base", "--store", "memory://x")
    assert isinstance(done.exception, ConfigError)
    assert "would end with this command" in str(done.exception)


def test_a_night_has_a_folder_of_its_own(home, tmp_path):
    before = sorted(p.name for p in (home / "base").iterdir())
    other = imported(tmp_path / "other", {"x": "SS"}, {"x": "SAFE"})
    for folder in (home / "base", other):
        done = night(home, folder)
        assert isinstance(done.exception, ConfigError)
        assert "holds a run, which is no night" in str(done.exception)
    assert before == sorted(p.name for p in (home / "base").iterdir())
    assert "is a file, not a folder" in str(night(home, home / "a.json").exception)


def suite(path):
    """Read a report that its readers' schema takes (Jenkins' xUnit plugin, MIT)."""
    from xmlschema import XMLSchema

    XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd").validate(path)
    return ET.parse(path).getroot()[0]


def test_a_night_is_a_test_case(home, tmp_path):
    report = tmp_path / "reports" / "junit.xml"
    for who, code, counts in (("quiet", 0, ("0", "0")), ("always_unsafe", 1, ("1", "0"))):
        done = night(home, tmp_path / who, "--junit", report, who=f"scripted:{who}")
        assert code == done.exit_code, done.output
        found = suite(report)
        assert counts == (found.get("failures"), found.get("errors"))
        assert "judgeaudit.nightly" == found[0].get("classname")
    (trouble,) = found[0]
    assert done.stdout.split("\n", 1)[0] == f"fail: {trouble.get('message')}"
    assert done.stdout.strip() == trouble.text


def test_a_report_of_a_night_replaces_nothing_and_is_missed_aloud(home, tmp_path):
    for taken in (home / "a.json", tmp_path / "night" / "night.json"):
        done = night(home, tmp_path / "night", "--junit", taken)
        assert isinstance(done.exception, ConfigError)
        assert "--junit would overwrite" in str(done.exception)
    done = night(home, tmp_path / "night", "--junit", tmp_path)
    assert "--junit is a folder" in str(done.exception)
    assert not (tmp_path / "night").exists()
    (tmp_path / "file").touch()
    done = night(home, tmp_path / "night", "--junit", tmp_path / "file" / "junit.xml")
    assert 3 == done.exit_code
    assert done.stdout.startswith("pass: ")
    assert "junit.xml: cannot be written" in done.stderr


@pytest.mark.parametrize(("outcome", "tag"), [("inconclusive", "error"), ("broken", "error")])
def test_a_night_without_a_result_is_an_error_and_reworded_conditions_are_cases(
    tmp_path, outcome, tag
):
    asked = Asked(calls=1, anchors=1, with_verdict=1, frozen=1, unchanged=(), in_batches=False)
    reworded = [
        Reworded(condition="T1", n_prompts=2, p_value=0.001, p_adjusted=0.003, moved=True),
        Reworded(condition="T2", n_prompts=2, p_value=0.5, p_adjusted=0.5, moved=False),
        Reworded(
            condition="T4", n_prompts=0, p_value=None, p_adjusted=None, moved=False,
            why_undefined="no \x00 verdict <b>",
        ),
    ]  # fmt: skip
    found = NightResult(
        outcome=outcome, sentence="why & \x1b", drift=0.06, alpha=0.05, looks=(),
        reworded=tuple(reworded), asked=asked,
    )  # fmt: skip
    path = tmp_path / "junit.xml"
    path.write_text(junit_of_night(found), encoding="utf-8")
    read = suite(path)
    assert ("4", "1", "2") == tuple(read.get(k) for k in ("tests", "failures", "errors"))
    assert [[tag], ["failure"], [], ["error"]] == [[t.tag for t in case] for case in read]


def reader(mute=0):
    """Answer by the item's text; the first so many items get no verdict."""
    right = judge()

    def answer(body, n, k):
        number = int(re.findall(r"item (\d{3})", json.dumps(body["messages"]))[-1])
        return Answer(body=completion("no idea")) if number < mute else right(body, n, k)

    return answer


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Nights of 16 anchors over HTTP, of which some get no verdict."""
    home = tmp_path_factory.mktemp("asked")
    data = corpus(home / "items.jsonl", 16)
    with Loopback(reader()) as server:
        shared = {"judge": "direct:loopback-1", "corpus": "jsonl", "data": str(data)}
        audit.run(
            **shared, api_base=server.api_base, out=home / "full", conditions=("base", "T2"),
            base_repeats=2, repeats=1,
        )  # fmt: skip
        freeze = ("nightly", "freeze", home / "full", "--anchors", home / "a.json")
        assert 0 == cli(*freeze, "--drift", 0.5, "--items", 16).exit_code

        def run(name, mute):
            server.behaviour = reader(mute)
            return cli(
                *("nightly", "run", "--anchors", home / "a.json", "--api-base", server.api_base),
                *("--judge", shared["judge"], "--corpus", "jsonl", "--data", data),
                *("--out", home / name, "--quiet"),
            )

        yield run


def test_a_night_says_why_it_is_undecided(asked):
    done = asked("some", 3)
    assert 4 == done.exit_code, done.output
    first = done.stdout.split("\n", 1)[0]
    assert "only 13 of 16 anchors have a verdict that can be compared (a pass needs 90%)" in first
    assert "is not ruled out" not in first
    assert "16 of 16 frozen anchors; 13 of these got a verdict." in done.stdout
    assert "A pass would mean: a worsening by 50 points is ruled out." in done.stdout


def test_a_night_that_passes_says_so(asked):
    done = asked("all", 0)
    assert 0 == done.exit_code, done.output
    assert "\nPass: a worsening by 50 points is ruled out." in done.stdout
    assert "got a verdict" not in done.stdout


def test_a_night_without_a_verdict_has_no_estimate(asked):
    done = asked("none", 16)
    assert 4 == done.exit_code
    first = done.stdout.split("\n", 1)[0]
    assert "one by 50 points is not ruled out, and only 0 of 16" in first
    assert first.endswith("no estimate")


def test_anchors_that_were_edited_are_refused(home, tmp_path):
    body = json.loads((home / "a.json").read_text())
    path = tmp_path / "a.json"
    path.write_text(json.dumps(dict(reversed(body.items()))))
    assert read_anchors(path) == read_anchors(home / "a.json"), "order and spacing are no change"
    edits = [body | {"drift": 0.01}, body | {"anchors": body["anchors"][1:]}, body | {"more": 1}]
    unsealed = {k: v for k, v in body.items() if k != "sha256"}
    for edit, said in [(e, "was changed since it was frozen") for e in edits] + [
        (unsealed, "has no 'sha256' of itself")
    ]:
        path.write_text(json.dumps(edit))
        with pytest.raises(ConfigError, match=said) as refused:
            read_anchors(path)
        assert "nightly freeze" in refused.value.mend
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match="holds no frozen anchors"):
        read_anchors(path)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["", "file://", "local://"])
def test_a_store_that_is_good_takes_the_night(home, tmp_path, scheme):
    store = f"{scheme}{tmp_path}/store"
    done = night(home, tmp_path / "night", "--store", store)
    assert (0, f"night 1 of {store}") == (done.exit_code, done.stderr.strip())
    again = night(home, tmp_path / "night", "--store", store)
    assert 0 == again.exit_code
    assert "is night 1 already" in again.stderr
    assert 1 == len(History(store).nights())
