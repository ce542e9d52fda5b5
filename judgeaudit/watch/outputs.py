"""A gate's or a night's result where machines look: JUnit XML, GitHub, JSON lines, Prometheus."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from xml.etree import ElementTree as ET

from judgeaudit.core.terminal import plain
from judgeaudit.watch.deciding import Check
from judgeaudit.watch.gating import GateResult
from judgeaudit.watch.night_result import NightResult

__all__ = [
    "LONGEST",
    "json_lines",
    "junit",
    "junit_of_night",
    "prometheus",
    "told",
    "workflow_commands",
]

_ODD: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST: Final = 4000
"""Longest text of a report in characters; what is cut is marked. JSON lines have the whole."""

_LEVEL: Final = {"fail": "error", "inconclusive": "warning"}
_STATES: Final = ("pass", "fail", "inconclusive", "broken")


def _xml(text: str) -> str:
    """Drop what XML 1.0 cannot hold."""
    return _ODD.sub("?", plain(text, limit=LONGEST))


class _Case(NamedTuple):
    classname: str
    name: str
    tag: Literal["failure", "error"] | None = None
    kind: str = ""
    why: str = ""
    text: str = ""


def junit(found: GateResult) -> str:
    """Write a test suite: a bar a test case; inconclusive ones are errors, not failures."""
    cases = [
        _Case(
            f"judgeaudit.gate.{c.kind}",
            f"{c.name}: {c.bar}",
            _tag(c.outcome),
            c.outcome,
            c.why,
            told(c),
        )
        for c in found.checks
    ]
    if found.outcome == "broken":
        cases.append(_Case("judgeaudit.gate", "answers", "error", "broken", found.sentence))
    return _suites("judgeaudit gate", cases)


def junit_of_night(found: NightResult, text: str = "") -> str:
    """Write a test suite of a night: whether the judge changed, then each wording asked again.

    Parameters
    ----------
    found : NightResult
        A night that is inconclusive, broken or interrupted is an error, not a failure.
    text : str
        Stands under a night that did not pass.
    """
    name = f"no change; a worsening by {100 * found.drift:g} points is ruled out"
    cases = [
        _Case("judgeaudit.nightly", name, _tag(found.outcome), found.outcome, found.sentence, text)
    ]
    for r in found.reworded:
        name = f"{r.condition}: {r.n_prompts} changed prompts move no verdicts"
        where = "judgeaudit.nightly.reworded"
        if r.why_undefined:
            cases.append(_Case(where, name, "error", "undefined", r.why_undefined))
        elif r.moved:
            why = f"verdicts moved by more than chance (p {r.p_adjusted:.3g})"
            cases.append(_Case(where, name, "failure", "fail", why))
        else:
            cases.append(_Case(where, name))
    return _suites("judgeaudit nightly", cases)


def _tag(outcome: str) -> Literal["failure", "error"] | None:
    if outcome == "pass":
        return None
    return "failure" if outcome == "fail" else "error"


def _suites(name: str, cases: Sequence[_Case]) -> str:
    count = Counter(c.tag for c in cases)
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(count["failure"]),
        errors=str(count["error"]),
        skipped="0",
        time="0",
    )
    for c in cases:
        case = ET.SubElement(suite, "testcase", classname=c.classname, name=_xml(c.name), time="0")
        if c.tag is not None:
            trouble = ET.SubElement(case, c.tag, message=_xml(c.why), type=c.kind)
            trouble.text = _xml(c.text) or None
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return ET.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def told(check: Check) -> str:
    """Say in one line what was decided of a bar, and why."""
    value = "undefined" if check.value is None else f"{check.value:.4g}"
    ends = "" if check.low is None else f" [{check.low:.4g}, {check.high:.4g}]"
    return f"{check.name}: {value}{ends}, {check.bar}: {check.why}"


def workflow_commands(found: GateResult) -> str:
    """Write workflow commands that GitHub shows beside a change."""
    lines = [
        f"::{_LEVEL[c.outcome]} title=judgeaudit {_property(c.name)}::{_message(told(c))}"
        for c in found.checks
        if c.outcome != "pass"
    ]
    if found.outcome == "broken":
        lines.append(f"::error title=judgeaudit::{_message(found.sentence)}")
    return "".join(f"{x}\n" for x in lines)


def _message(text: str) -> str:
    # every kind of line end, U+2028 too
    return "%0A".join(plain(text, limit=LONGEST).replace("%", "%25").splitlines())


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def json_lines(found: GateResult) -> str:
    """Write one object a bar, and one for the whole at the end."""
    rows = [{"record": "check", **c.model_dump(mode="json")} for c in found.checks]
    whole = found.model_dump(mode="json", exclude={"checks"})
    rows.append({"record": "gate", "exit_code": found.exit_code, **whole})
    # ASCII: no line separator of any kind can break a line
    return "".join(json.dumps(r, sort_keys=True) + "\n" for r in rows)


def _label(text: str) -> str:
    text = " ".join(plain(text, limit=LONGEST).splitlines())
    return text.replace("\\", "\\\\").replace('"', '\\"')


def prometheus(found: GateResult) -> str:
    """Write metrics in Prometheus' text format, for a node exporter's folder."""
    lines = [
        "# HELP judgeaudit_gate_outcome Outcome of the gate; 1 on the one that holds.",
        "# TYPE judgeaudit_gate_outcome gauge",
        *(f'judgeaudit_gate_outcome{{outcome="{s}"}} {int(s == found.outcome)}' for s in _STATES),
        "# HELP judgeaudit_gate_check_outcome Outcome of a bar; 1 on the one that holds.",
        "# TYPE judgeaudit_gate_check_outcome gauge",
    ]
    named = [
        (f'check="{_label(c.name)}",kind="{c.kind}",bar="{_label(c.bar)}"', c) for c in found.checks
    ]
    for labels, c in named:
        lines += [
            f'judgeaudit_gate_check_outcome{{{labels},outcome="{s}"}} {int(s == c.outcome)}'
            for s in _STATES[:3]
        ]
    for name in ("value", "low", "high"):
        lines += [
            f"# HELP judgeaudit_gate_check_{name} A bar's {name}, where it has one.",
            f"# TYPE judgeaudit_gate_check_{name} gauge",
        ]
        lines += [
            f"judgeaudit_gate_check_{name}{{{labels}}} {x!r}"
            for labels, c in named
            if (x := getattr(c, name)) is not None
        ]
    lines += [
        "# HELP judgeaudit_gate_calls Calls of the run.",
        "# TYPE judgeaudit_gate_calls gauge",
        f'judgeaudit_gate_calls{{state="planned"}} {found.n_planned}',
        f'judgeaudit_gate_calls{{state="answered"}} {found.n_answered}',
        f'judgeaudit_gate_calls{{state="verdict"}} {found.n_verdicts}',
    ]
    return "\n".join(lines) + "\n"
