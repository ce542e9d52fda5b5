"""The explorer on this machine's loopback: reading, and notes; nothing else, for nobody else."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from judgeaudit._version import __version__
from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.core.terminal import plain
from judgeaudit.engine import triage
from judgeaudit.viewer.choosing import Filters
from judgeaudit.viewer.detail import detail, long_text
from judgeaudit.viewer.explorer import Explorer
from judgeaudit.viewer.exporting import export
from judgeaudit.viewer.guard import HEADERS, Guard
from judgeaudit.viewer.listing import page, row_of
from judgeaudit.viewer.localised import SHEET
from judgeaudit.viewer.localised import page as localised
from judgeaudit.viewer.overview import overview

__all__ = ["Server"]

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_MOST_BODY: Final = 65_536
_PATIENCE: Final = 60.0


class Server(ThreadingHTTPServer):
    """Serves an explorer on 127.0.0.1.

    Parameters
    ----------
    explorer : Explorer
        What is shown.
    port : int
        0: any that is free.

    Raises
    ------
    ConfigError
        If the port cannot be had.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise ConfigError(
                f"port {port} cannot be had ({getattr(error, 'strerror', None) or error})",
                mend="Leave --port away: a free one is chosen",
            ) from error
        self.explorer = explorer
        self.port = int(self.server_address[1])
        self.guard = Guard(self.port)
        self.files = _static()
        self.writing = threading.Lock()

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.guard.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Say in one line what nobody foresaw; a browser that went away is not worth one."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            print(plain(f"judgeaudit: {type(error).__name__}: {error}", limit=500), file=sys.stderr)  # noqa: T201


def _static() -> dict[str, bytes]:
    folder = files("judgeaudit.viewer") / "static"
    found = {
        f.name: f.read_bytes() for f in folder.iterdir() if f.name.rpartition(".")[2] in _TYPES
    }
    return found | dict([SHEET])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = f"judgeaudit/{__version__}"
    sys_version = ""
    timeout = _PATIENCE
    disable_nagle_algorithm = True  # head and body are two writes: the second must not wait

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet: the address of a request may hold the token."""

    @property
    def _here(self) -> Server:
        return cast("Server", self.server)

    def do_GET(self) -> None:
        """Answer a page's questions."""
        self._answer(self._get)

    do_HEAD = do_GET  # noqa: N815 (the name is the library's)

    def do_POST(self) -> None:
        """Take in a note."""
        self._answer(self._post)

    def _answer(self, work: Callable[[str, dict[str, str]], None]) -> None:
        self._begun = False
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query, keep_blank_values=True, max_num_fields=100))
        headers = cast("Any", self.headers)
        wrong = self._here.guard.wrong_place(headers)
        if wrong is None and not self._here.guard.knows(headers, query):
            wrong = "open the address that judgeaudit view printed in the terminal"
        if wrong is not None:
            self._refuse(HTTPStatus.FORBIDDEN, wrong)
            return
        try:
            work(address.path, query)
        except ConfigError as error:
            self._json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except JudgeAuditError as error:
            self._json({"error": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        except OSError:
            raise  # the browser went away
        except Exception as error:
            if self._begun:
                raise
            self._here.handle_error(self.request, self.client_address)
            said = f"the explorer could not answer ({type(error).__name__})"
            self._json({"error": said}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _get(self, path: str, query: dict[str, str]) -> None:
        explorer = self._here.explorer
        if path == "/":
            self._send(self._here.files["index.html"], _TYPES["html"], cookie=True)
        elif path.startswith("/static/") and path[8:] in self._here.files:
            name = path[8:]
            self._send(self._here.files[name], _TYPES[name.rpartition(".")[2]])
        elif path == "/localised":
            number = _whole(query, "run") if "run" in query else 0
            self._send(localised(explorer, number), _TYPES["html"])
        elif path == "/api/progress":
            self._json(explorer.progress())
        elif path == "/api/overview":
            self._json(overview(explorer) | {"write": self._here.guard.write_token,
                                             "note_limit": triage.NOTE_LIMIT})  # fmt: skip
        elif path == "/api/flips":
            start = _whole(query, "start") if "start" in query else None
            after = query.get("after", "")
            self._json(page(explorer, Filters.of(query), after=after, start=start))
        elif path == "/api/flip":
            run, cell = _whole(query, "run"), _whole(query, "cell")
            self._json(detail(explorer, run, cell, Filters.of(query)))
        elif path == "/api/text":
            run, start = _whole(query, "run"), _whole(query, "start")
            self._json(long_text(explorer, run, query.get("what", ""), start))
        elif path == "/api/export":
            form = query.get("format", "jsonl")
            self._stream(export(explorer, Filters.of(query), form), form)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self, path: str, _query: dict[str, str]) -> None:
        if path != "/api/triage":
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        if not self._here.guard.may_write(cast("Any", self.headers)):
            self._refuse(HTTPStatus.FORBIDDEN, "only the page itself may add notes")
            return
        said = self._body()
        try:
            number, cell = int(said["run"]), int(said["cell"])
            kind, note = said.get("kind"), said.get("note", "")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError("a note needs run, cell, kind and note") from error
        if kind not in (None, *triage.KINDS) or not isinstance(note, str):
            raise ConfigError(f"kind is one of {', '.join(triage.KINDS)} or null; note is a text")
        if len(note) > triage.NOTE_LIMIT:
            raise ConfigError(f"a note has at most {triage.NOTE_LIMIT:,} characters")
        run = self._here.explorer.run(number)
        if not 0 <= cell < len(run.index.items.keys) * len(run.index.columns):
            raise ConfigError(f"there is no cell {cell} in this run")
        with self._here.writing:
            mark = run.mark(cell, kind, note, now_utc())
        self._json({"triage": mark.model_dump(include={"kind", "note", "time"}),
                    "row": row_of(run, cell)})  # fmt: skip

    def _body(self) -> Any:
        if self.headers.get_content_type() != "application/json":
            raise ConfigError("a note is sent as application/json")
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError as error:
            self.close_connection = True
            raise ConfigError("a note says how long it is") from error
        if not 0 <= length <= _MOST_BODY:
            self.close_connection = True
            raise ConfigError(f"a note has at most {_MOST_BODY:,} bytes")
        try:
            return json.loads(self.rfile.read(length))
        except (ValueError, RecursionError) as error:
            raise ConfigError("a note is JSON") from error

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True  # a body that was not read must not become a request
        self._send(f"{status.value} {why}\n".encode(), "text/plain; charset=utf-8", status)

    def _json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        # ASCII escapes carry lone surrogates and separators unharmed
        self._send(json.dumps(value).encode("ascii"), "application/json", status)

    def _send(
        self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, *, cookie: bool = False
    ) -> None:
        self._head(status, kind, {"Content-Length": str(len(body))}, cookie=cookie)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(
        self, status: HTTPStatus, kind: str, more: dict[str, str], *, cookie: bool = False
    ) -> None:
        self._begun = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in (HEADERS | more).items():
            self.send_header(name, value)
        if cookie:
            self.send_header("Set-Cookie", self._here.guard.cookie_line())
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _stream(self, parts: Iterator[bytes], form: str) -> None:
        kind = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}[form]
        how = {
            "Content-Disposition": f'attachment; filename="flips.{form}"',
            "Transfer-Encoding": "chunked",
        }
        self._head(HTTPStatus.OK, kind, how)
        if self.command == "HEAD":
            return
        try:
            for part in parts:
                if part:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        except JudgeAuditError:
            self.close_connection = True  # cut off without the last chunk: the browser says so


def _whole(query: dict[str, str], name: str) -> int:
    word = query.get(name, "")
    if not (word.isascii() and word.isdigit() and len(word) < 19):
        raise ConfigError(f"{name} is a whole number, not {word[:40]!r}")
    return int(word)
