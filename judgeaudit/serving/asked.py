"""Read a chat completion's request: hostile until it was read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from judgeaudit.cure.hardened_given import each_once
from judgeaudit.serving.faults import FaultError

__all__ = ["Asked", "read_request"]

_MOST_MESSAGES: Final = 64
_KNOWN: Final = {"model", "messages", "stream", "stream_options", "n", "seed"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be answered.

    Parameters
    ----------
    messages : list of dict
        As sent.
    stream, usage_at_end : bool
        Whether the answer is streamed, and its last chunk tells the tokens used.
    draw : int, optional
        The request's `seed`: the same one asks for the same draw.
    ignored : tuple of str
        Parameters that a hardened judge decides itself.
    """

    messages: list[dict[str, Any]]
    stream: bool
    usage_at_end: bool
    draw: int | None
    ignored: tuple[str, ...]


def read_request(body: bytes, model: str) -> Asked:
    """Read a request for one model.

    Raises
    ------
    FaultError
        400 or 404; names the parameter.
    """
    data = _object(body)
    named = data.get("model")
    if not isinstance(named, str):
        _refuse("the parameter 'model' is no text", "model")
    if named not in {model, "hardened"}:
        raise FaultError(
            404,
            f"there is no model {named[:80]!r} here, only {model!r}",
            code="model_not_found",
            param="model",
        )
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        _refuse("the parameter 'messages' is no list of messages", "messages")
    if len(messages) > _MOST_MESSAGES or not all(isinstance(m, dict) for m in messages):
        _refuse(f"'messages' holds 1 to {_MOST_MESSAGES} objects", "messages")
    stream = data.get("stream", False)
    if stream is not None and not isinstance(stream, bool):
        _refuse("the parameter 'stream' is neither true nor false", "stream")
    wanted = data.get("n")
    # by type first: what is sent may be anything, also what has no hash
    if wanted is not None and (type(wanted) not in {int, float} or wanted != 1):
        _refuse("'n' must be 1: a judge gives one verdict", "n")
    draw = data.get("seed")
    if draw is not None and (
        isinstance(draw, bool) or not isinstance(draw, int) or not abs(draw) < 1 << 31
    ):
        _refuse("'seed' is no whole number of 31 bits", "seed")
    options = data.get("stream_options")
    options = {} if options is None else options
    if not isinstance(options, dict):
        _refuse("'stream_options' is no object", "stream_options")
    usage = options.get("include_usage")
    if usage is not None and not isinstance(usage, bool):
        _refuse("'include_usage' is neither true nor false", "stream_options")
    return Asked(
        messages=messages,
        stream=bool(stream),
        usage_at_end=usage is True,
        draw=None if draw is None else abs(draw),
        ignored=tuple(sorted(k[:40] for k in data if k not in _KNOWN))[:40],
    )


def _object(body: bytes) -> dict[str, Any]:
    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    try:
        data = json.loads(
            body.decode("utf-8"), parse_constant=constant, object_pairs_hook=each_once
        )
    except (ValueError, RecursionError) as e:
        raise FaultError(
            400,
            f"the body is no JSON in UTF-8, or not a clear one: {str(e)[:80]}",
            code="invalid_json",
        ) from None
    if not isinstance(data, dict):
        raise FaultError(400, "the body is no JSON object", code="invalid_json")
    return data


def _refuse(message: str, param: str) -> NoReturn:
    raise FaultError(400, message, code="invalid_parameter", param=param)
