"""A pytest plugin: an audit as a test.

::

    import pytest

    @pytest.mark.judgeaudit(judge="openai/<model>", preset="quick", accuracy_at_least=0.8)
    def test_the_judge_is_right(judgeaudit_result):
        assert judgeaudit_result.facts.n_answered == judgeaudit_result.facts.n_planned

The audit is made while the test is set up: what keeps it from being made is an *error*. A bar that
fails *fails* the test, before its body; a bar that is not decided *skips* it (see
`judgeaudit_inconclusive`): it never passes.

Every pytest that runs beside an installed judgeaudit loads this module, so it imports nothing but
pytest; the rest is fetched by the first marked test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from judgeaudit.audit import AuditResult
    from judgeaudit.pytest_plugin._auditing import Runs
    from judgeaudit.watch.gating import GateResult

__all__ = ["judgeaudit_audit", "judgeaudit_gate", "judgeaudit_result", "judgeaudit_runs"]

MARKER = "judgeaudit"
_RESULT = "judgeaudit_result"
_ASKED = pytest.StashKey[bool]()
_TOLD = (
    f"{MARKER}(judge=..., gate='gate.toml', baseline=..., inconclusive='skip'|'xfail'|'fail', "
    "METRIC_at_least=..., METRIC_at_most=..., **choices): audit a judge, and decide bars on the "
    "run. Choices are those of `judgeaudit audit`; config='audit.toml' reads them from a file."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what can be said in pytest's own configuration."""
    parser.addini(
        "judgeaudit_inconclusive",
        "What becomes of a test whose bars are not decided: skip, xfail or fail.",
        default="skip",
    )
    parser.addini(
        "judgeaudit_out",
        "Folder that keeps runs, below the root folder: what was answered is not asked again. "
        "Without it each session asks anew.",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, for --strict-markers."""
    config.addinivalue_line("markers", _TOLD)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let a marked test's audit be made while it is set up, whether it asks for it or not."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(MARKER) is not None:
        # as a test may hold bars alone, what it asks for itself is kept
        asked = _RESULT in item.fixturenames
        item.stash[_ASKED] = asked
        if not asked:
            # not in place: the list is that of all cases of a parametrised test
            item.fixturenames = [*item.fixturenames, _RESULT]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Decide the bars of a marked test before its body; of a method of unittest's, too."""
    if item.get_closest_marker(MARKER) is not None:
        from judgeaudit.pytest_plugin._auditing import decide

        decide(item, getattr(item, "funcargs", {}).get(_RESULT))
    return (yield)


@pytest.fixture(scope="session")
def judgeaudit_runs(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return the runs of this session; one set of choices is audited once."""
    from judgeaudit.pytest_plugin._auditing import Runs

    named = str(pytestconfig.getini("judgeaudit_out"))
    kept = pytestconfig.rootpath / named if named else None
    return Runs(tmp_path_factory.mktemp("judgeaudit"), kept)


@pytest.fixture
def judgeaudit_audit(judgeaudit_runs: Runs) -> Callable[..., AuditResult]:
    """Return a function that audits a judge: `judgeaudit_audit("scripted:quiet", preset="quick")`.

    Its choices are those of `judgeaudit audit`; the judge may be a function of the messages.
    """
    from judgeaudit.pytest_plugin._auditing import audited

    def audit(judge: Any = None, **choices: Any) -> AuditResult:
        given = choices if judge is None else {**choices, "judge": judge}
        return audited(judgeaudit_runs, given)

    return audit


@pytest.fixture
def judgeaudit_gate(request: pytest.FixtureRequest) -> Callable[..., GateResult]:
    """Return a function that decides bars on a run: `judgeaudit_gate(run, pis_at_least=0.6)`.

    It fails or skips the test as the marker does, and returns what passed.
    """
    from judgeaudit.pytest_plugin._auditing import gated

    def decide(run: Any, **bars: Any) -> GateResult:
        return gated(request.node, run, bars)

    return decide


@pytest.fixture
def judgeaudit_result(request: pytest.FixtureRequest, judgeaudit_runs: Runs) -> AuditResult:
    """Return what the audit of the test's marker ended in."""
    from judgeaudit.pytest_plugin._auditing import of_marker

    return of_marker(request.node, judgeaudit_runs, asked=request.node.stash.get(_ASKED, True))
