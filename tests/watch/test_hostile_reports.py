"""A stranger's text in a gate's result is a text in every report that leaves the gate."""

from __future__ import annotations

import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from card_hostile import HOSTILE

from judgeaudit.watch import Check, GateResult, outputs
from judgeaudit.watch.sarif import sarif
from judgeaudit.watch.webhook import payload
from judgeaudit.watch.words import of_gate

TEXTS = {**HOSTILE, "megabytes": "<b>A</b>\u202e\x1b[2J" * 400_000}


def result(text: str) -> GateResult:
    """Put a text in every place that a run, a metric or a config can write to."""
    checks = tuple(
        Check(name=text, kind=kind, outcome=outcome, bar=text, why=text)
        for kind, outcome in (("bar", "fail"), ("regression", "inconclusive"))
    )
    # what a folder can be called: not of UTF-8 perhaps, but short, and without NUL
    run = text[:80].replace("\0", "").replace("\ud800", "\udc80").replace("\udfff", "\udcff")
    return GateResult(
        run=run, baseline=text, outcome="fail", sentence=text, false_alarm_rate=0.05, power=0.8,
        checks=checks, n_answered=1, n_planned=1, n_verdicts=1,
    )  # fmt: skip


def controls(text: str) -> set[str]:
    """Return what steers a terminal or turns a line, but for the ends of lines."""
    odd = {c for c in set(text) if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    return odd - {"\n", "\t"}


@pytest.fixture(scope="module", params=sorted(TEXTS))
def hostile(request):
    return TEXTS[request.param]


@pytest.fixture(scope="module")
def found(hostile):
    return result(hostile)


def test_xml_is_well_formed_and_has_no_element_of_a_stranger(found):
    text = outputs.junit(found)
    text.encode("utf-8")
    assert set() == controls(text)
    tags = [e.tag for e in ET.fromstring(text).iter()]
    assert ["testsuites", "testsuite", "testcase", "failure", "testcase", "error"] == tags


def test_sarif_and_webhook_are_json_of_ascii(found, hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (sarif(found), payload(found)):
        assert text.isascii()
        json.loads(text)
    (run,) = json.loads(sarif(found))["runs"]
    assert ["error", "warning"] == [r["level"] for r in run["results"]]
    for r in run["results"]:
        assert set() == controls(r["message"]["text"])
        (at,) = r["locations"]
        address = at["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[!-~]+", address)
        assert not address.startswith("javascript:")
    # the receiver gets the text as it was, and shows it as it must
    assert hostile == json.loads(payload(found))["checks"][0]["name"]


def test_markdown_and_text_hold_no_markup_and_no_control(found):
    md, said = of_gate(found, md=True), of_gate(found)
    usual = result("x")
    for text in (md, said):
        text.encode("utf-8")
        assert set() == controls(text)
    assert not re.search(r"<(?!br>)[a-z/!]", md, flags=re.IGNORECASE)
    assert not re.search(r"(?<!\\)\]\(", md)
    tables = [
        [line for line in t.splitlines() if line.startswith("|")]
        for t in (md, of_gate(usual, md=True))
    ]
    assert len(tables[0]) == len(tables[1])
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in tables[0]}
    assert 1 == len(bars)


def test_a_workflow_sees_no_command_of_a_stranger(found):
    lines = outputs.workflow_commands(found).splitlines()
    assert 2 == len(lines)
    assert all(re.match(r"::(error|warning) title=judgeaudit ", line) for line in lines)
    for text in (outputs.workflow_commands(found), outputs.prometheus(found)):
        text.encode("utf-8")
        assert set() == controls(text)
    assert 3 == len(outputs.json_lines(found).splitlines())
    assert outputs.json_lines(found).isascii()
