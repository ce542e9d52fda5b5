"""A history at an address: nothing is lost between writers, and what cannot be used is said."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
import uuid

import pytest
from watch_world import cli, imported

from judgeaudit.core.errors import ConfigError, JudgeAuditError, LedgerError
from judgeaudit.watch import History
from judgeaudit.watch.monitor import watch
from judgeaudit.watch.objects import Objects
from judgeaudit.watch.sides import load

GOLD = {f"i{k:02d}": "UNSAFE" if k % 2 else "SAFE" for k in range(30)}


def night(home, name, turned=()):
    said = {
        k: ("U" if (g == "UNSAFE") ^ (int(k[1:]) in turned) else "S") * 3 for k, g in GOLD.items()
    }
    # one call that differs gives every night a ledger of its own
    k = f"i{len(list(home.iterdir())) % 30:02d}"
    return imported(home / name, said | {k: "US" + said[k][2]}, GOLD)


@pytest.fixture
def memory():
    return f"memory://{uuid.uuid4().hex}/nights"


def test_an_address_keeps_what_a_folder_keeps(tmp_path, memory):
    folders = [night(tmp_path, f"n{k}", turned=range(8) if k == 5 else ()) for k in range(6)]
    stores = [History(p) for p in (tmp_path / "store", f"file://{tmp_path}/a%20b", memory)]
    for folder in folders:
        assert 1 == len({s.add(load(folder)) for s in stores})
    assert (tmp_path / "a b" / "history.sqlite").is_file()
    found = [watch(s).model_dump() for s in stores]
    assert found[0] == found[1] == found[2]
    assert 6 == found[0]["first_alarm"]
    for store in stores:
        store.pin(6, "new model")
        store.expire()
        store.pin(2)
    kept = [[(b.night, b.note, bool(b.expired)) for b in s.baselines()] for s in stores]
    assert kept[0] == kept[1] == kept[2]
    assert [(1, "the first night", True), (6, "new model", True), (2, "", False)] == kept[0]
    with pytest.raises(ConfigError, match="is night 3 already"):
        stores[2].add(load(folders[2]))
    assert 6 == len(History(memory).nights())
    assert "BASELINE" in cli("history", "list", "--store", memory).stdout


WRITER = """
import sys
from judgeaudit.watch import History
from judgeaudit.watch.sides import load
for run in sys.argv[2:]:
    History(sys.argv[1]).add(load(run))
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_two_processes_that_write_at_once_lose_no_night(tmp_path, form):
    runs = [str(night(tmp_path, f"n{k}")) for k in range(8)]
    place = form.format(tmp_path / "store")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, place, *runs[half::2]]) for half in (0, 1)
    ]
    assert [0, 0] == [w.wait(60) for w in writers]
    assert set(runs) == {n.run for n in History(place).nights()}
    assert 1 == len(History(place).baselines())


def test_two_threads_that_write_objects_at_once_lose_no_night(tmp_path, memory):
    sides = [load(night(tmp_path, f"n{k}")) for k in range(8)]
    together, trouble = threading.Barrier(2), []

    def write(mine):
        try:
            for side in mine:
                together.wait()
                History(memory).add(side)
        except Exception as error:  # noqa: BLE001 - carried over to the test's own thread
            trouble.append(error)

    threads = [threading.Thread(target=write, args=(sides[half::2],)) for half in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [] == trouble
    nights = History(memory).nights()
    assert {s.name for s in sides} == {n.run for n in nights}
    assert list(range(1, 9)) == [n.number for n in nights]


def test_an_object_that_is_cut_short_or_changed_is_named(tmp_path, memory):
    history = History(memory)
    history.add(load(night(tmp_path, "a")))
    history.add(load(night(tmp_path, "b")))
    import fsspec

    fs, root = fsspec.core.url_to_fs(memory)
    path = max(fs.ls(f"{root}/nights", detail=False))
    whole = fs.cat_file(path)
    for data, said in (
        (whole[: len(whole) // 2], "is cut short, or was changed"),
        (whole.replace(b'"label', b'"Label').replace(b"SAFE", b"safe") + b" ", "was changed"),
    ):
        fs.pipe_file(path, data)
        with pytest.raises(LedgerError, match=said) as told:
            History(memory).nights()
        assert path.rpartition("/")[2] in str(told.value)


def test_what_is_no_history_is_said(tmp_path, memory):
    with pytest.raises(ConfigError, match="holds no history"):
        History(memory).nights()
    with pytest.raises(ConfigError, match="is no address that fsspec knows"):
        History("nowhere://x/y")
    done = cli("history", "show", "--store", "nowhere://x/y")
    assert isinstance(done.exception, ConfigError)
    assert 2 == done.exception.exit_code


def test_a_protocol_whose_library_is_missing_names_it(monkeypatch):
    # the library is not there, whatever this machine has
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match="library for s3:// is not installed") as told:
        Objects("s3://bucket/nights")
    assert "s3fs" in str(told.value)


def test_a_web_server_is_read_and_refuses_a_night(tmp_path, memory):
    for name in "ab":
        History(memory).add(load(night(tmp_path, name)))
    import fsspec

    fs, root = fsspec.core.url_to_fs(memory)
    fs.get(root, str(tmp_path / "www"), recursive=True)
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(tmp_path / "www"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            history = History(f"http://127.0.0.1:{server.server_port}")
            assert watch(History(memory)) == watch(history)
            side = load(night(tmp_path, "c"))
            with pytest.raises(JudgeAuditError, match=r"cannot be written .*'PUT'"):
                history.add(side)
        finally:
            server.shutdown()
            thread.join()
