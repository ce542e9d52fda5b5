"""The door to `datasets`: a hub of our own on loopback, and tables."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora import load

COMMIT = "c0ffee" + "0" * 34
FILE = json.dumps(
    [
        {
            "id": n,
            "profile": "You are a clerk.",
            "contents": [
                {"role": "user", "content": "x"},
                {"role": "agent", "thought": "", "action": "y"},
            ],
            "label": n,
            "ambiguous": 0,
        }
        for n in range(2)
    ]
).encode()
SCRIPT = """
import sys
from judgeaudit.core.errors import JudgeAuditError
from judgeaudit.corpora import load
try:
    facts = load("assebench", data=sys.argv[1], subset="strict", revision=sys.argv[2]).facts
    print("loaded", facts.n_items, facts.version)
except JudgeAuditError as error:
    print(type(error).__name__, error)
"""


class _Hub(http.server.BaseHTTPRequestHandler):
    """Just enough of a hub: the commit of a repository, and one file."""

    requests: list[str]

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.requests.append(self.path)
        head = {"Content-Type": "application/json"}
        if self.path.startswith("/api/datasets/Atarogic/ASSEBench/revision/"):
            body = json.dumps(
                {"id": "Atarogic/ASSEBench", "sha": COMMIT, "tags": [], "siblings": []}
            ).encode()
        elif self.path.endswith("/dataset/AgentJudge-strict.json"):
            body = FILE
            head |= {"ETag": f'"{hashlib.sha1(FILE).hexdigest()}"', "X-Repo-Commit": COMMIT}
        else:
            body = b"{}"
            self.send_response(404)
            head |= {"X-Error-Code": "EntryNotFound"}
        if head.get("X-Error-Code") is None:
            self.send_response(200)
        for name, value in head.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()


@pytest.fixture
def hub(tmp_path):
    """Serve a hub on loopback; yields a function that loads in a process of its own."""
    handler = type("Hub", (_Hub,), {"requests": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def run(revision, data="hub:Atarogic/ASSEBench", **env):
        address = f"http://127.0.0.1:{server.server_port}"
        own = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), **env}
        own = {k: v for k, v in os.environ.items() if not k.startswith("HF_")} | own
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, data, revision],
            env=own, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    run.requests = handler.requests
    yield run
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_pinned_file_is_fetched_once_and_then_read_offline(hub):
    loaded = f"loaded 2 sha256:{hashlib.sha256(FILE).hexdigest()}"
    assert loaded == hub(COMMIT)
    assert any("AgentJudge-strict.json" in path for path in hub.requests)
    hub.requests.clear()
    assert loaded == hub(COMMIT, HF_HUB_OFFLINE="1")
    assert [] == hub.requests


def test_offline_the_message_says_what_to_do(hub, tmp_path):
    found = hub(COMMIT, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "empty"))
    assert found.startswith(
        "CorpusError hub:Atarogic/ASSEBench/dataset/AgentJudge-strict.json: cannot be fetched"
    )
    assert "offline mode, and it is not in the cache" in found
    assert found.endswith("download the file elsewhere and give its path with --data")
    assert "\n" not in found
    assert [] == hub.requests


@pytest.mark.slow
def test_a_hash_pins_the_file_whatever_the_branch_holds(hub):
    assert hub(f"sha256:{hashlib.sha256(FILE).hexdigest()}").startswith("loaded 2")
    assert "not the pinned " + "0" * 64 in hub("sha256:" + "0" * 64)


@pytest.mark.slow
def test_a_file_that_the_hub_has_not_is_named(hub):
    found = hub(COMMIT, data="hub:Atarogic/ASSEBench/dataset/none.json")
    assert "hub:Atarogic/ASSEBench/dataset/none.json: cannot be fetched" in found
    assert "Entry Not Found" in found


@pytest.mark.parametrize(
    ("data", "revision", "says"),
    [
        ("hub:Atarogic/ASSEBench", None, "no revision is given. Pin it with --revision"),
        ("hub:Atarogic/ASSEBench", "main", "revision 'main' does not pin the data"),
        ("hub:Atarogic/ASSEBench", "c0ffee", "revision 'c0ffee' does not pin the data"),
        ("hub:someone/else", COMMIT, "is not the address of a file on the hub"),
        ("hub:someone/else/../x.json", COMMIT, "is not the address of a file on the hub"),
    ],
)
def test_an_address_or_a_pin_that_will_not_do_is_refused_before_any_request(data, revision, says):
    with pytest.raises(ConfigError, match=says):
        load("assebench", data=data, subset="strict", revision=revision)


def test_on_the_hub_the_subset_has_to_be_named():
    with pytest.raises(ConfigError, match=r"no subset is given\. Known: security"):
        load("assebench", data="hub:Atarogic/ASSEBench", revision=COMMIT)


TABLE = """
import json, sys
import datasets
from judgeaudit.core.errors import JudgeAuditError
from judgeaudit.corpora import load
rows = json.load(open(sys.argv[1]))
table = datasets.Dataset.from_list(rows)
table.to_parquet(sys.argv[2])
table.save_to_disk(sys.argv[3])
print("from here on it is ours", file=sys.stderr)
one = load("jsonl", data=sys.argv[1]).items
print(one == load("jsonl", data=sys.argv[2]).items == load("jsonl", data=sys.argv[3] + "/data-00000-of-00001.arrow").items)
open(sys.argv[2], "wb").write(b"PAR1 no")
try:
    load("jsonl", data=sys.argv[2])
except JudgeAuditError as error:
    print(error)
"""


def test_parquet_and_arrow_hold_the_same_items_as_json(write, own_record, tmp_path):
    path = write(
        "x.json", [own_record(str(n), ambiguous=bool(n), strata={"k": "v"}) for n in range(3)]
    )
    done = subprocess.run(
        [sys.executable, "-c", TABLE, str(path), str(tmp_path / "x.parquet"), str(tmp_path / "arrow")],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "" == done.stderr.partition("from here on it is ours\n")[2]
    assert "from here" in done.stderr
    same, refused = done.stdout.strip().splitlines()
    assert "True" == same
    assert refused.startswith(f"{tmp_path / 'x.parquet'}: cannot be read as parquet: ")


def test_reading_json_loads_neither_datasets_nor_its_kin():
    code = (
        "import sys; from judgeaudit.corpora import load; load('sample');"
        "print([m for m in ('datasets', 'pyarrow', 'huggingface_hub', 'pandas', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
