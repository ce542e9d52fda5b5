"""A gate's result as SARIF 2.1.0, for code scanning: a bar that does not pass is a finding."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from judgeaudit._version import __version__
from judgeaudit.core.terminal import plain
from judgeaudit.core.toml_lines import KeyPath, line_of, lines_of
from judgeaudit.watch.deciding import Check
from judgeaudit.watch.gating import GateResult
from judgeaudit.watch.outputs import LONGEST, told

__all__ = ["sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL: Final = {"fail": "error", "inconclusive": "warning"}
_BROKEN: Final = "gate/broken"


def sarif(found: GateResult, config: Path | None = None) -> str:
    """Write a SARIF log: a failed bar is an error, an inconclusive one a warning.

    A bar that passes is a rule without a finding. An inconclusive bar is a warning rather than
    SARIF's kind "open", whose level must be "none": what is undefined never passes, and readers
    hide what has no level.

    Parameters
    ----------
    found : GateResult
        What the gate decided.
    config : path, optional
        The gate.toml that it was decided by: each finding then points at the line of its bar.
        Without it findings point at the run.
    """
    lines = {} if config is None else lines_of(config.read_text(encoding="utf-8-sig"))
    place = _uri(Path(found.run) if config is None else config)
    rules: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for check, key in zip(found.checks, _keys(found.checks), strict=True):
        rule = _rule(check)
        known = [r["id"] for r in rules]
        if rule["id"] not in known:
            rules.append(rule)
            known.append(rule["id"])
        if check.outcome != "pass":
            results.append(
                {
                    "ruleId": rule["id"],
                    "ruleIndex": known.index(rule["id"]),
                    "level": _LEVEL[check.outcome],
                    "message": {"text": plain(f"{check.outcome}: {told(check)}", limit=LONGEST)},
                    "locations": [_at(place, line_of(lines, key))],
                    # one bar is one alert, however its figures move from night to night
                    "partialFingerprints": {"judgeauditBar/v1": _print(check)},
                    "properties": {"outcome": check.outcome},
                }
            )
    if found.outcome == "broken":
        text = "No call was answered, so that no bar can be decided."
        rules.append({"id": _BROKEN, "shortDescription": {"text": text}})
        results.append(
            {
                "ruleId": _BROKEN,
                "ruleIndex": len(rules) - 1,
                "level": "error",
                "message": {"text": plain(found.sentence, limit=LONGEST)},
                "locations": [_at(place, 1 if lines else None)],
                "properties": {"outcome": "broken"},
            }
        )
    run = {
        "tool": {"driver": {"name": "judgeaudit", "version": __version__, "rules": rules}},
        "invocations": [
            {"executionSuccessful": found.outcome != "broken", "exitCode": found.exit_code}
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _keys(checks: tuple[Check, ...]) -> list[KeyPath]:
    """Return where each check stands in gate.toml; within a kind they keep its order."""
    counts = {"bar": 0, "regression": 0}
    keys: list[KeyPath] = []
    for check in checks:
        keys.append((check.kind, counts[check.kind]))
        counts[check.kind] += 1
    return keys


def _rule(check: Check) -> dict[str, Any]:
    name = plain(check.name, limit=200)
    said = {
        "bar": f"A bar on {name}.",
        "regression": f"{name} must not have become worse since the baseline.",
    }
    if check.name == "verdicts":
        said["regression"] = "Base verdicts must not have moved since the baseline."
    return {
        "id": f"gate/{check.kind}/{name.replace(' ', '/')}",
        "shortDescription": {"text": said[check.kind]},
    }


def _print(check: Check) -> str:
    named = json.dumps([check.kind, check.name, check.bar])
    return hashlib.sha256(named.encode()).hexdigest()


def _at(place: dict[str, str], line: int | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": place}
    if line is not None:
        physical["region"] = {"startLine": line}
    return {"physicalLocation": physical}


def _uri(path: Path) -> dict[str, str]:
    """Return a place relative to the current folder, or its address if it lies elsewhere."""
    whole, here = path.resolve(), Path.cwd()
    if whole.is_relative_to(here):
        # as bytes: a name need not be UTF-8
        name = os.fsencode(whole.relative_to(here).as_posix())
        return {"uri": quote(name), "uriBaseId": "%SRCROOT%"}
    return {"uri": whole.as_uri()}
