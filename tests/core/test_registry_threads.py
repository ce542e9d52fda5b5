"""A registry that two threads look into at once is filled once, and whole to both."""

from __future__ import annotations

import sys
import textwrap
import threading

from judgeaudit.core.registry import Registry


def test_a_thread_that_comes_while_another_fills_it_sees_all_of_it(tmp_path, monkeypatch):
    room = tmp_path / "toyroom"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "aa.py").write_text(
        textwrap.dedent("""
        import toyroom
        toyroom.begun.set()
        toyroom.go_on.wait(0.5)
        toyroom.registry.register("aa")(object())
        """)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import toyroom

    toyroom.begun, toyroom.go_on = threading.Event(), threading.Event()
    toyroom.registry = registry = Registry("toy", "toyroom", "toyroom")
    seen = []
    first = threading.Thread(target=registry.names)
    first.start()
    assert toyroom.begun.wait(10)
    second = threading.Thread(target=lambda: seen.append(registry.names()))
    second.start()
    for thread in (first, second):
        thread.join(10)
    for name in [m for m in sys.modules if m.split(".")[0] == "toyroom"]:
        del sys.modules[name]
    assert [["aa"]] == seen
