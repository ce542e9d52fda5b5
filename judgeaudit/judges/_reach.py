"""Whether anything answers at the address of a server of one's own, found out before a run."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.error
import urllib.request
from typing import Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import JudgeSpec

__all__ = ["REACH_SECONDS", "check_reachable"]

REACH_SECONDS: Final = 30.0
"""How long a server may take to say anything at all, and a connection to be made.

No limit on a judge's answer: a model may think as long as `attempt_seconds` allows.
"""


def check_reachable(spec: JudgeSpec, seconds: float = REACH_SECONDS) -> None:
    """Ask a server for its list of models, without a key; any answer will do, a refusal too.

    Parameters
    ----------
    spec : JudgeSpec
        One without `api_base` is not checked: the address is the client library's business.
    seconds : float
        The deadline, the look-up of the name included.

    Raises
    ------
    ConfigError
        Nobody listens there, or nothing is said within the deadline.
    """
    if not spec.api_base:
        return
    why: list[str] = []
    # a look-up of a name cannot be given a limit: it is left behind instead
    knock = threading.Thread(
        target=_knock, args=(spec.api_base, seconds, why), name="judgeaudit-reach", daemon=True
    )
    knock.start()
    knock.join(seconds)
    silent = f"nothing answers within {seconds:g} s"
    if knock.is_alive():
        why.append(silent)
    if why:
        said = why[0] or silent
        raise ConfigError(
            f"no server answers at {spec.api_base} ({said})",
            where=spec.model,
            mend="Start the server, or correct its address",
        )


def _knock(api_base: str, seconds: float, why: list[str]) -> None:
    request = urllib.request.Request(f"{api_base.rstrip('/')}/models")  # noqa: S310 - http(s) only
    try:
        with urllib.request.urlopen(request, timeout=seconds):  # noqa: S310
            return
    except urllib.error.HTTPError as answer:
        answer.close()
    except urllib.error.URLError as error:
        reason = error.reason
        if isinstance(reason, TimeoutError):
            why.append("")
        elif isinstance(reason, ConnectionRefusedError):
            why.append("connection refused")
        elif isinstance(reason, socket.gaierror):
            why.append("the name is not known")
        # what else can be wrong (a certificate), the first call tells in the client's own words
    except TimeoutError:
        why.append("")
    except (OSError, ValueError, http.client.HTTPException):
        return
