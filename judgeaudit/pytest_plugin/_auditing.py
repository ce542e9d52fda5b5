"""What a marked test does: audit once, decide bars, and say so in pytest's words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeVar

import pytest

from judgeaudit import audit as auditing
from judgeaudit.audit import AuditResult
from judgeaudit.core.choosing import choose, spec_from
from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.core.records import AuditSpec
from judgeaudit.core.toml import record_from
from judgeaudit.pytest_plugin._function import named
from judgeaudit.watch.deciding import Check
from judgeaudit.watch.gating import GateResult, gate
from judgeaudit.watch.outputs import told
from judgeaudit.watch.rules import Bar, GateRules, read_rules

__all__ = ["Runs", "audited", "decide", "gated", "of_marker"]

T = TypeVar("T")

_MARKER: Final = "judgeaudit"
_WAYS: Final = ("skip", "xfail", "fail")
_OWN: Final = ("gate", "baseline", "inconclusive", "false_alarm_rate", "answered_at_least")
_ENDS: Final[tuple[tuple[str, Literal["at_least", "at_most"]], ...]] = (
    ("_at_least", "at_least"),
    ("_at_most", "at_most"),
)


class Runs:
    """The runs of a session.

    Parameters
    ----------
    fresh : path
        Where runs go that end with the session.
    kept : path, optional
        Where runs of named judges go that stay.
    """

    def __init__(self, fresh: Path, kept: Path | None = None) -> None:
        self._fresh, self._kept = fresh, kept
        self._done: dict[str, AuditResult] = {}

    def of(self, spec: AuditSpec, *, keep: bool) -> AuditResult:
        """Audit, or return the run of the same choices.

        Parameters
        ----------
        spec : AuditSpec
            The choices.
        keep : bool
            Whether the judge's name says which judge it is: a function is another one after an
            edit, so that its answers are not kept.
        """
        key = hashlib.sha256(
            json.dumps(spec.model_dump(mode="json"), sort_keys=True).encode()
        ).hexdigest()[:16]
        if key not in self._done:
            base = self._kept if keep and self._kept is not None else self._fresh
            out = spec.out or base / key
            self._done[key] = auditing.run(spec.model_copy(update={"out": out}))
        return self._done[key]


def audited(runs: Runs, choices: Mapping[str, Any]) -> AuditResult:
    """Audit a judge, or end the test: an audit that could not be made decides nothing."""
    result = _tried(lambda: _audited(runs, dict(choices)))
    if result.interrupted:
        raise KeyboardInterrupt
    if result.exit_code:
        _broken(f"no call was answered; the run is {result.folder}")
    return result


def _audited(runs: Runs, given: dict[str, Any]) -> AuditResult:
    judge = given.get("judge")
    if callable(judge):
        given["judge"] = named(judge)
        # a function that was not written for threads is called by one at a time
        given.setdefault("concurrency", 1)
    config = given.pop("config", None)
    spec = spec_from(given) if config is None else choose(Path(config), given)
    return runs.of(spec, keep=not callable(judge))


def _tried(make: Callable[[], T]) -> T:
    try:
        return make()
    except JudgeAuditError as error:
        why = str(error)
    # outside of the handler, or a report would show the error twice
    return _broken(why)


def _broken(why: str) -> NoReturn:
    pytest.fail(f"judgeaudit: broken: {why}", pytrace=False)


def _arguments(node: pytest.Item) -> dict[str, Any]:
    """Gather the marker's arguments: of module, class and test, the nearest wins."""
    gathered: dict[str, Any] = {}
    for mark in reversed(list(node.iter_markers(_MARKER))):
        if len(mark.args) > 1:
            _broken(f"the marker takes one judge, and keywords; it got {mark.args!r}")
        gathered |= {"judge": mark.args[0]} if mark.args else {}
        gathered |= mark.kwargs
    return gathered


def _split(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the choices of an audit from what is decided on its run."""
    bars = {k: v for k, v in arguments.items() if k in _OWN or k.endswith(tuple(dict(_ENDS)))}
    return {k: v for k, v in arguments.items() if k not in bars}, bars


def of_marker(node: pytest.Item, runs: Runs, *, asked: bool) -> AuditResult:
    """Make the audit of a test's marker.

    Parameters
    ----------
    asked : bool
        Whether the test looks at the result itself; one that does not needs bars.
    """
    if node.get_closest_marker(_MARKER) is None:
        _broken("judgeaudit_result needs the marker @pytest.mark.judgeaudit(judge=...)")
    choices, bars = _split(_arguments(node))
    decides = set(bars) - {"inconclusive", "false_alarm_rate", "answered_at_least"}
    if not asked and not decides:
        _broken("the marker holds no bar, so the test could not fail: add gate= or …_at_least=")
    result = audited(runs, choices)
    node.user_properties.append(("judgeaudit_run", str(result.folder)))
    return result


def decide(node: pytest.Item, result: AuditResult | None) -> None:
    """Decide the bars of a test's marker, where it has any."""
    if result is None:
        _broken("only test functions and methods can be marked: this is neither")
    bars = _split(_arguments(node))[1]
    if set(bars) - {"inconclusive", "false_alarm_rate", "answered_at_least"}:
        gated(node, result, bars)


def gated(node: pytest.Item, run: AuditResult | Path | str, bars: Mapping[str, Any]) -> GateResult:
    """Decide bars on a run, and end the test unless all pass.

    Returns
    -------
    GateResult
        What passed.
    """
    folder = run.folder if isinstance(run, AuditResult) else Path(run)
    way = _tried(lambda: _way(node, bars))
    baseline = None if bars.get("baseline") is None else Path(bars["baseline"])
    found = _tried(lambda: gate(folder, _rules(bars, baseline), baseline=baseline))
    node.user_properties.append(("judgeaudit_outcome", found.outcome))
    if found.outcome == "pass":
        return found
    said = _words(found, folder)
    # a reason is one line
    reason = "; ".join(said.splitlines())
    if found.outcome == "inconclusive" and way == "skip":
        pytest.skip(reason)
    if found.outcome == "inconclusive" and way == "xfail":
        pytest.xfail(reason)
    # also under --runxfail, where xfail does nothing: what is undefined never passes
    pytest.fail(said, pytrace=False)


def _words(found: GateResult, folder: Path) -> str:
    """Say which bars do not pass and why, one line each."""
    held = [_line(c) for c in found.checks if c.outcome != "pass"]
    causes = [f"{c.kind}: {c.what}" for c in found.causes]
    tail = f"(card: {folder / 'card.html'})"
    return "\n".join([f"judgeaudit: {found.outcome}: {found.sentence}", *held, *causes, tail])


def _line(check: Check) -> str:
    more = f"; about {check.more_items:,} more items would decide it" if check.more_items else ""
    return f"{check.outcome}: {told(check)}{more}"


def _way(node: pytest.Item, bars: Mapping[str, Any]) -> str:
    way = bars.get("inconclusive") or str(node.config.getini("judgeaudit_inconclusive"))
    if way not in _WAYS:
        raise ConfigError(f"inconclusive is {way!r}", mend=f"It must be {', '.join(_WAYS)}")
    return str(way)


def _rules(bars: Mapping[str, Any], baseline: Path | None) -> GateRules:
    """Read a gate file, and add the bars that were given by name."""
    strange = list(_split(bars)[0])
    if strange:
        raise ConfigError(
            f"{strange[0]}= is no bar",
            mend=f"Bars end in _at_least or _at_most; beside them there are {', '.join(_OWN)}",
        )
    own: list[Bar] = []
    for name, value in bars.items():
        for end, side in _ENDS:
            if name.endswith(end) and name not in _OWN:
                own += _bars(name.removesuffix(end), side, value)
    file = bars.get("gate")
    rules = GateRules()
    if file is not None:
        rules = read_rules(Path(file), baseline=baseline is not None)
    elif not own:
        rules = read_rules(None, baseline=baseline is not None)
    stated = {k: bars[k] for k in ("false_alarm_rate", "answered_at_least") if k in bars}
    return record_from(
        GateRules,
        {**rules.model_dump(), **stated, "bar": (*rules.bar, *own)},
        spell="{}=".format,
    )


def _bars(metric: str, side: Literal["at_least", "at_most"], value: object) -> list[Bar]:
    """Make a bar of a number, or one a condition: `delta_paper_at_most={"certified": 0.05}`."""
    by_condition: Mapping[Any, Any] = value if isinstance(value, Mapping) else {None: value}
    for number in by_condition.values():
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise ConfigError(
                f"{metric}_{side}= is {value!r}",
                mend="It must be a number, or {condition: number}",
            )
    return [
        Bar.model_validate({"metric": metric, "condition": condition, side: float(number)})
        for condition, number in by_condition.items()
    ]
