"""A real server on 127.0.0.1 with /v1/files, /v1/batches and /v1/chat/completions.

::

    with BatchServer() as server:
        ...  # talk to server.api_base
    assert 1 == len(server.batches)

Rows are answered by a `Behaviour` of `loopback_answers`, as single requests are. What goes wrong is
chosen by attributes. Standard library only.
"""

from __future__ import annotations

import email
import email.policy
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from loopback_answers import Behaviour, hash_verdict, prompt_key

__all__ = ["BatchServer"]

_OVER = ("completed", "failed", "expired", "cancelled")


class BatchServer:
    """The server: a context manager that runs in threads of its own.

    Parameters
    ----------
    behaviour : Behaviour
        What a chat request, single or in a batch, is answered.
    looks : int
        How often a batch is looked at before it is over.
    """

    def __init__(self, behaviour: Behaviour = hash_verdict, *, looks: int = 1) -> None:
        self.behaviour = behaviour
        self.looks = looks
        self.key: str | None = None
        self.end = "completed"
        self.share = 1.0  # of the rows that are answered before the end
        self.errors: list[dict[str, Any]] = []  # what a failed batch says
        self.mangle: Callable[[list[bytes]], list[bytes]] = lambda rows: rows
        self.create_faults: list[str] = []  # "before": 500, nothing made; "after": made, then 500
        self.create_delay = 0.0  # between making a batch and saying so
        self.upload_delay = 0.0
        self.cut_downloads = 0
        self.deaf_looks = 0  # looks that get 503
        self.lists = True
        self.metadata_kept = True
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()  # custom ids that were worked on
        self.bodies: list[dict[str, Any]] = []  # in batches
        self.single: list[dict[str, Any]] = []  # of single requests
        self.seen: list[str] = []
        self.made = threading.Event()
        self.uploaded = threading.Event()
        self._prompts: Counter[str] = Counter()
        self._lock = threading.Lock()
        owner = self

        class Handler(_Handler):
            server_state = owner

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def api_base(self) -> str:
        """Address to give to clients."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def chat(self, body: dict[str, Any]) -> Any:
        """Answer one request by the behaviour."""
        with self._lock:
            key = prompt_key(body)
            self._prompts[key] += 1
            return self.behaviour(body, self._prompts.total(), self._prompts[key])

    def store(self, name: str, data: bytes) -> dict[str, Any]:
        """Keep a file."""
        with self._lock:
            file_id = f"file-{len(self.files) + 1}"
            self.files[file_id] = (name, data)
        return {"id": file_id, "object": "file", "filename": name, "purpose": "batch"}

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Make a batch; its rows are worked on when it is over."""
        rows = self.files[asked["input_file_id"]][1].splitlines()
        batch = {
            "id": f"batch_{len(self.batches) + 1}",
            "object": "batch",
            "status": "validating",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"],
            "metadata": asked.get("metadata") if self.metadata_kept else None,
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "expires_at": int(time.time()) + 86400,
            "request_counts": {"total": len(rows), "completed": 0, "failed": 0},
            "_looks": self.looks,
        }
        self.batches[batch["id"]] = batch
        self.made.set()
        return batch

    def look(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Let time pass for a batch, and show it."""
        if batch["status"] not in _OVER:
            batch["_looks"] -= 1
            total = batch["request_counts"]["total"]
            left = max(batch["_looks"], 0)
            batch["request_counts"]["completed"] = total * (self.looks - left) // (self.looks + 1)
            batch["status"] = "in_progress"
            if batch["_looks"] < 0:
                self.finish(batch, self.end)
        return {k: v for k, v in batch.items() if not k.startswith("_")}

    def finish(self, batch: dict[str, Any], status: str) -> None:
        """Work on the rows and end the batch."""
        batch["status"] = status
        if status == "failed":
            batch["errors"] = {"object": "list", "data": self.errors}
            return
        good, bad = [], []
        rows = [json.loads(r) for r in self.files[batch["input_file_id"]][1].splitlines()]
        n = round(len(rows) * self.share)
        for k, row in enumerate(rows):
            if k >= n:
                why = {"code": f"batch_{status}", "message": f"not made: {status}"}
                bad.append({"custom_id": row["custom_id"], "response": None, "error": why})
                continue
            assert row["method"] == "POST"
            assert row["url"] == batch["endpoint"] == "/v1/chat/completions"
            self.asked[row["custom_id"]] += 1
            self.bodies.append(row["body"])
            answer = self.chat(row["body"])
            out: dict[str, Any] = {
                "id": f"batch_req_{k}",
                "custom_id": row["custom_id"],
                "response": {
                    "status_code": answer.status,
                    "request_id": f"req_{batch['id']}_{k}",
                    "body": answer.body,
                },
                "error": None,
            }
            if answer.fault is not None:
                out |= {"response": None, "error": {"code": "server_error", "message": "it broke"}}
            (good if answer.status == 200 and answer.fault is None else bad).append(out)
        counts = batch["request_counts"]
        counts["completed"], counts["failed"] = len(good), len(bad)
        for kind, found in (("output", good), ("error", bad)):
            if found:
                lines = self.mangle([json.dumps(r).encode() + b"\n" for r in found])
                file_id = self.store(f"{batch['id']}_{kind}.jsonl", b"".join(lines))["id"]
                batch[f"{kind}_file_id"] = file_id


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: BatchServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        s = self.server_state
        raw = self._body()
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/v1").strip("/").split("/")
        s.seen.append(f"{method} {parts.path}")
        if s.key is not None and self.headers.get("Authorization") != f"Bearer {s.key}":
            self._error(401, "Incorrect API key provided", "invalid_api_key")
            return
        match (method, *path):
            case ("POST", "chat", "completions"):
                body = json.loads(raw)
                s.single.append(body)
                answer = s.chat(body)
                self._send(answer.status, answer.body, {"x-request-id": f"req_{len(s.single)}"})
            case ("POST", "files"):
                self._upload(raw)
            case ("GET", "files") if s.lists:
                rows = [
                    {"id": k, "filename": name, "purpose": "batch"}
                    for k, (name, _) in reversed(s.files.items())
                ]
                self._page(rows, parts.query)
            case ("GET", "files", file_id, "content") if file_id in s.files:
                self._content(s.files[file_id][1])
            case ("POST", "batches"):
                self._create(json.loads(raw))
            case ("GET", "batches") if s.lists:
                rows = [
                    {k: v for k, v in b.items() if not k.startswith("_")}
                    for b in reversed(s.batches.values())
                ]
                self._page(rows, parts.query)
            case ("GET", "batches", batch_id) if batch_id in s.batches:
                if s.deaf_looks:
                    s.deaf_looks -= 1
                    self._error(503, "busy", None)
                else:
                    self._send(200, s.look(s.batches[batch_id]))
            case ("POST", "batches", batch_id, "cancel") if batch_id in s.batches:
                batch = s.batches[batch_id]
                if batch["status"] not in _OVER:
                    s.finish(batch, "cancelled")
                self._send(200, s.look(batch) | {"status": "cancelling"})
            case _:
                self._error(404, f"no such path: {parts.path}", None)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        out = b""
        while size := int(self.rfile.readline(), 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def _upload(self, raw: bytes) -> None:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + raw, policy=email.policy.HTTP)
        fields = {p.get_param("name", header="content-disposition"): p for p in form.iter_parts()}
        assert fields["purpose"].get_payload(decode=True).strip() == b"batch"
        sent = fields["file"]
        told = self.server_state.store(sent.get_filename(), sent.get_payload(decode=True))
        self.server_state.uploaded.set()
        time.sleep(self.server_state.upload_delay)
        self._send(200, told)

    def _create(self, asked: dict[str, Any]) -> None:
        s = self.server_state
        fault = s.create_faults.pop(0) if s.create_faults else None
        if fault == "before":
            self._error(500, "The server had an error", None)
            return
        batch = s.create(asked)
        time.sleep(s.create_delay)
        if fault == "after":
            self._error(500, "The server had an error", None)
        else:
            self._send(200, {k: v for k, v in batch.items() if not k.startswith("_")})

    def _content(self, data: bytes) -> None:
        s = self.server_state
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if s.cut_downloads:
            s.cut_downloads -= 1
            self.wfile.write(data[: len(data) * 2 // 3])
            self.close_connection = True
            return
        self.wfile.write(data)

    def _page(self, rows: list[dict[str, Any]], query: str) -> None:
        asked = parse_qs(query)
        limit = int(asked.get("limit", ["20"])[0])
        after = asked.get("after", [None])[0]
        at = next((k + 1 for k, r in enumerate(rows) if r["id"] == after), 0)
        page = rows[at : at + limit]
        self._send(200, {"object": "list", "data": page, "has_more": at + limit < len(rows)})

    def _error(self, status: int, message: str, code: str | None) -> None:
        told = {"message": message, "type": "error", "param": None, "code": code}
        self._send(status, {"error": told})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for k, v in (headers or {}).items():
                self.send_header(k, v)
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True  # the client was killed
