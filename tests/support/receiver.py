"""A real HTTP server on 127.0.0.1 that keeps what is posted to it."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

__all__ = ["Receiver"]


class Receiver:
    """Takes posts; answers each with one status.

    Parameters
    ----------
    status : int
        Of every answer.
    location : str, optional
        Where a redirect points.
    drip : float
        Seconds between two letters of the answer; 0: at once.
    """

    def __init__(self, status: int = 204, *, location: str | None = None, drip: float = 0) -> None:
        self.seen: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.seen.append(({"path": self.path, **dict(self.headers)}, body))
                head = f"HTTP/1.1 {status} X\r\n"
                if location is not None:
                    head += f"Location: {location}\r\n"
                head += "Content-Length: 0\r\nConnection: close\r\n\r\n"
                try:
                    for letter in head if drip else [head]:
                        self.wfile.write(letter.encode())
                        time.sleep(drip)
                except OSError:
                    pass  # the sender went away

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
