from __future__ import annotations

import io

import pytest

from judgeaudit.engine.progress import (
    BarProgress,
    LineProgress,
    SilentProgress,
    make_progress,
    printable,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_stands_on_a_terminal_alone():
    assert isinstance(make_progress("auto", Terminal()), BarProgress)
    assert isinstance(make_progress("auto", io.StringIO()), LineProgress)
    assert isinstance(make_progress("plain", Terminal()), LineProgress)
    assert isinstance(make_progress("quiet", Terminal()), SilentProgress)


def test_plain_lines_are_few_and_end_with_the_whole_count():
    out = io.StringIO()
    progress = LineProgress(out)
    progress.begin(50_000, 20_000)
    for _ in range(29_990):
        progress.count("verdict", 0.001)
    for _ in range(10):
        progress.count("refusal", 0.001)
    progress.end()
    lines = out.getvalue().splitlines()
    assert lines[0] == "asking 30,000 of 50,000 calls (20,000 answered before)"
    assert lines[-1].startswith("50,000/50,000 calls, ")
    assert lines[-1].endswith("/s, $30.0000, 10 refusal")
    assert len(lines) <= 5


def test_a_cost_that_is_not_known_is_not_shown():
    out = io.StringIO()
    progress = LineProgress(out)
    progress.begin(2, 0)
    progress.count("verdict", None)
    progress.count("verdict", 1.0)
    progress.end()
    assert "$" not in out.getvalue()


def test_a_bar_shows_counts_failures_and_time_left():
    out = Terminal()
    progress = BarProgress(out)
    progress.begin(10, 2)
    for outcome in ("verdict", "error", "error"):
        progress.count(outcome, None)
    progress.note("\x1b[2J[bold]hello")
    progress.end()
    shown = out.getvalue()
    assert "5/10" in shown
    assert "2 error" in shown
    assert "left" in shown
    assert "\\x1b[2J[bold]hello" in shown


@pytest.mark.parametrize("make", [LineProgress, BarProgress])
def test_nothing_to_do_is_no_error(make):
    progress = make(io.StringIO())
    progress.begin(0, 0)
    progress.end()


@pytest.mark.parametrize("make", [LineProgress, BarProgress])
def test_a_closed_pipe_does_not_end_a_run(make):
    out = io.StringIO()
    progress = make(out)
    progress.begin(2, 0)
    out.close()
    progress.count("verdict", None)
    progress.note("hello")
    progress.end()


def test_text_from_elsewhere_cannot_move_the_cursor():
    assert printable("a\x1b]0;x\x07\u202eb\r\n\ud800") == "a\\x1b]0;x\\x07\\u202eb\\r\\n\\ud800"
    assert len(printable("x" * 1000)) == 300
