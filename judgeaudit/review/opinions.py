"""Ask a model for its opinion on every rewrite of a sheet, in both orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import JudgeSpec, Reply
from judgeaudit.policy.opinions import (
    ORDERS,
    Opinion,
    OpinionFile,
    Order,
    noticed_planted,
    opinion_certificates,
    opinion_prompt,
    read_opinion,
)
from judgeaudit.policy.rating import DIMENSIONS, Sheet, save
from judgeaudit.policy.rating.files import read_json, record_of
from judgeaudit.review.asking import ask_all

__all__ = ["OPINION_SCHEMA", "ask_opinions", "words"]

OPINION_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {d: {"enum": ["same", "different", "unsure"]} for d in DIMENSIONS},
    "required": list(DIMENSIONS),
    "additionalProperties": False,
}


def ask_opinions(
    sheet: Sheet, spec: JudgeSpec, path: Path, *, seconds: float = 120.0
) -> tuple[OpinionFile, dict[str, str]]:
    """Ask for what is still open, and keep every answer in a file as soon as it is there.

    Parameters
    ----------
    sheet : Sheet
        Real and planted pairs.
    spec : JudgeSpec
        The model.
    path : Path
        Where the answers are kept; a file of the same sheet and model is gone on with.

    Returns
    -------
    (OpinionFile, dict of str to str)
        The answers, and why questions are open, by `pair/order`.

    Raises
    ------
    PolicyError
        If the file is of another sheet or another model.
    JudgeError, ConfigError
        If the model cannot be asked.
    """
    file = OpinionFile(policy_id=sheet.policy_id, judge=spec, pairs=sheet.pairs)
    if path.exists():
        old = record_of(OpinionFile, read_json(path), path, "file of opinions")
        if (old.judge, old.pairs) != (file.judge, file.pairs):
            raise PolicyError(
                "holds opinions of another model, or on other texts",
                where=str(path),
                mend="Choose another file",
            )
        file = old
    given: dict[tuple[str, Order], Opinion] = {
        (o.pair, o.order): o for o in file.opinions if read_opinion(o.text) is not None
    }
    todo = [(p, o) for p in sheet.pairs for o in ORDERS if (p.id, o) not in given]
    places = {f"{p.id}/{o}": (p.id, o) for p, o in todo}

    def told(key: str, reply: Reply) -> None:
        pair, order = places[key]
        text = reply.text or reply.refusal or ""
        given[pair, order] = Opinion(
            pair=pair, order=order, text=text, served_model=reply.served_model
        )
        save(_with(file, given), path)

    failed = ask_all(
        spec,
        [(f"{p.id}/{o}", opinion_prompt(p, o)) for p, o in todo],
        seconds=seconds,
        told=told,
    )
    unread = {
        f"{pair}/{order}": "the answer holds no opinion on all six dimensions"
        for (pair, order), o in given.items()
        if read_opinion(o.text) is None
    }
    return _with(file, given), {**unread, **failed}


def _with(file: OpinionFile, given: dict[tuple[str, Order], Opinion]) -> OpinionFile:
    kept = tuple(o for _, o in sorted(given.items()))
    return file.model_copy(update={"opinions": kept})


def words(file: OpinionFile, failed: dict[str, str]) -> str:
    """Say what the model thinks, and how much that is worth."""
    held = {pair.id: c for pair, c in opinion_certificates(file)}
    lines = [f"Second opinion of {file.judge.backend}:{file.judge.model} (a flag, never a gate)"]
    noticed, planted = noticed_planted(file)
    lines.append(f"  it noticed {noticed} of {planted} wrong rewrites planted to test it")
    for pair in file.pairs:
        if pair.planted is not None:
            continue
        c = held.get(pair.id)
        label = f"  {pair.condition} wording {pair.wording}"
        if c is None:
            lines.append(f"{label}: no opinion")
            continue
        lines.append(f"{label}: {'no doubt' if c.passed else 'DOUBTS'}")
        lines += [f"      {f.dimension}: {f.what}" for f in c.findings]
    if failed:
        first = next(iter(failed.values()))
        lines.append(f"  {len(failed)} questions are open, the first: {first}")
        lines.append("  The same command asks them again and keeps what was answered.")
    return "\n".join(lines)
