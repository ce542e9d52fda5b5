"""One call as a row of a batch file: the body that the judge's own door would send, and back."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Reply
from judgeaudit.engine.batch.choices import OPENAI, address_of
from judgeaudit.judges._ending import Ending
from judgeaudit.judges._text import Scrubber
from judgeaudit.judges._wire import Answer
from judgeaudit.judges.direct import KEY_NAME, DirectJudge

__all__ = ["URL", "Codec"]

URL: Final = "/v1/chat/completions"
"""What every request of a batch asks."""

_LAPSED: Final = frozenset({"batch_expired", "batch_cancelled"})


class Codec:
    """Writes and reads the rows of one judge's batches.

    Parameters
    ----------
    spec : JudgeSpec
        Of the backend `direct`, or a LiteLLM model string of the provider `openai`.

    Raises
    ------
    ConfigError
        If its calls cannot be made in batches.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self.address = address_of(spec)
        self._door = DirectJudge(_as_direct(spec, self.address))

    def key(self) -> str:
        """Return the key of the environment; a server of one's own may have none.

        Raises
        ------
        ConfigError
            If OpenAI's own server is asked without one.
        """
        key = os.environ.get(KEY_NAME, "").strip()
        if not key and self.address == OPENAI:
            raise ConfigError(
                f"no key for {self.address}",
                mend=f"Set {KEY_NAME}, or give the address of another server with --api-base",
            )
        return key or "no-key"

    def ending(self) -> Ending:
        """Return what words the failures of the server itself."""
        return Ending("the batches", self.address, self.address, KEY_NAME, Scrubber())

    def line(self, prompt: JudgePrompt, call: Call) -> bytes:
        """Return a call as a row of a file of requests."""
        row = {
            "custom_id": call.id,
            "method": "POST",
            "url": URL,
            "body": self._door.body(prompt, call.seed),
        }
        return json.dumps(row).encode() + b"\n"

    def read(self, row: dict[str, Any]) -> Reply | JudgeError | None:
        """Read a row of a file of results.

        Parameters
        ----------
        row : dict
            `response` holds the status and the body of an answer, `error` why there is none.

        Returns
        -------
        Reply, JudgeError or None
            None: the server did not make this call.
        """
        response, error = row.get("response"), row.get("error")
        if isinstance(error, dict) and error.get("code") in _LAPSED:
            return None
        if not isinstance(response, dict):
            # no HTTP answer: a failure of the batch's own machinery, which may pass
            told = error or {"message": "the row holds neither an answer nor an error"}
            return self._door.read(Answer(200, {}, _packed({"error": told})), 0.0)
        status, named = response.get("status_code"), response.get("request_id")
        headers = {"x-request-id": named} if isinstance(named, str) and named else {}
        whole = status if isinstance(status, int) and 100 <= status < 600 else 200
        read = self._door.read(Answer(whole, headers, _packed(response.get("body"))), 0.0)
        if isinstance(read, Reply) and read.request_id is None and headers:
            return read.model_copy(update={"request_id": headers["x-request-id"]})
        return read


def _packed(body: object) -> bytes:
    # some servers hand the body over as a text
    return (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "surrogatepass")


def _as_direct(spec: JudgeSpec, address: str) -> JudgeSpec:
    """Return the spec by which the direct door sends what the judge's own door sends."""
    changed: dict[str, Any] = {"backend": "direct", "api_base": address}
    if spec.backend == "litellm":
        from judgeaudit.judges._checks import check_endpoint
        from judgeaudit.judges._formats import format_parameters
        from judgeaudit.judges._guards import GUARDS
        from judgeaudit.judges._litellm import openai_request

        check_endpoint(spec, "openai")
        asked = {**spec.decoding, **format_parameters(spec)}
        model, sent = openai_request(spec.model, asked)
        changed |= {"model": model, "decoding": sent}
        # what asks for the form stands in the decoding; where a guard's verdict stands does not
        if spec.output_format not in GUARDS:
            changed["output_format"] = "plain"
    return spec.model_copy(update=changed)
