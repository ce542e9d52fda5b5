"""Sheets and certificates as files, and certificates put on renderings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Certificate, Record, Rendering
from judgeaudit.policy.rating.records import RatedPair, Sheet, Vote
from judgeaudit.policy.rating.tally import Rule, decide

__all__ = ["CertificateFile", "Held", "attach", "load_certificates", "load_sheet", "save"]

R = TypeVar("R", bound=Record)


class CertificateFile(Record):
    """Certificates by people, with the sheet and the votes that they follow from.

    A file whose certificates do not follow from its votes is refused when it is loaded: nobody
    can write one without votes.
    """

    format: Literal["judgeaudit-certificates"] = "judgeaudit-certificates"
    version: Literal[1] = 1
    sheet: Sheet
    rule: Rule = "unanimous"
    allow_failed: int = 0
    votes: tuple[Vote, ...]
    certificates: tuple[Certificate, ...]


Held = tuple[RatedPair, Certificate]
"""A rewrite, and the certificate on it."""


def save(record: Record, path: Path) -> None:
    """Write a record as JSON, all at once."""
    text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(text.encode("utf-8"))
    os.replace(part, path)  # noqa: PTH105


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    PolicyError
        If the file cannot be read or is no JSON object.
    """
    from judgeaudit.policy._toml import read_text

    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as e:
        raise PolicyError(f"not JSON: {e.msg}", where=f"{path}, line {e.lineno}") from None
    if not isinstance(data, dict):
        raise PolicyError("is no JSON object", where=str(path))
    return data


def record_of(model: type[R], data: dict[str, Any], path: Path, what: str) -> R:
    """Validate a JSON object as a record.

    Raises
    ------
    PolicyError
        Naming the file and the key.
    """
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as e:
        first = e.errors(include_url=False)[0]
        key = ".".join(str(p) for p in first["loc"])
        why = str(first["ctx"]["error"]) if "error" in first.get("ctx", {}) else first["msg"]
        raise PolicyError(
            f"is no {what}: {why}" + (f" ({key})" if key else ""), where=str(path)
        ) from None


def load_sheet(path: Path) -> Sheet:
    """Load a sheet from its key, or from the folder in which it lies.

    Raises
    ------
    PolicyError
        If it cannot be read, or a text in it is not the one that was hashed.
    """
    from judgeaudit.policy.rating.making import KEY

    path = path / KEY if path.is_dir() else path
    return record_of(Sheet, read_json(path), path, "key of a rating sheet")


def load_certificates(path: Path) -> tuple[Held, ...]:
    """Load the certificates of a file, by people or by a model.

    Raises
    ------
    PolicyError
        If the file cannot be read, or its certificates do not follow from what it holds.
    """
    from judgeaudit.policy.opinions import OpinionFile, opinion_certificates

    data = read_json(path)
    if data.get("format") == "judgeaudit-opinions":
        opinions = record_of(OpinionFile, data, path, "file of opinions")
        return opinion_certificates(opinions)
    if data.get("format") == "judgeaudit-rating-sheet":
        raise PolicyError(
            "is a rating sheet without votes",
            where=str(path),
            mend="Collect votes, then `judgeaudit policy certify`",
        )
    file = record_of(CertificateFile, data, path, "file of certificates")
    decision = decide(file.sheet, file.votes, rule=file.rule, allow_failed=file.allow_failed)
    # words may be worded better one day; what is certified, and whether it passed, may not change
    if [_core(c) for c in decision.certificates] != [_core(c) for c in file.certificates]:
        raise PolicyError(
            "the certificates do not follow from the votes in the file",
            where=str(path),
            mend="Make it again with `judgeaudit policy certify`",
        )
    return tuple((p.pair, p.certificate) for p in decision.pairs if p.certificate is not None)


def _core(c: Certificate) -> tuple[object, ...]:
    findings = tuple(f.dimension for f in c.findings)
    return (c.rendering_sha256, c.base_sha256, c.evidence, c.passed, findings)


def attach(renderings: Sequence[Rendering], held: Iterable[Held]) -> tuple[Rendering, ...]:
    """Put certificates on the renderings whose texts they are bound to.

    A certificate by people takes the place of a structural one, which moves to `others`; a
    model's opinion only ever goes to `others`. One of another text of the same condition is void;
    it stands where there is no better one, so that a card can say so.

    Raises
    ------
    PolicyError
        If two files of people's votes certify the same text.
    """
    held = tuple(held)
    bases = {r.language: r.sha256 for r in renderings if r.condition == "base"}
    return tuple(_with(r, bases.get(r.language, ""), held) for r in renderings)


def _with(r: Rendering, base_sha256: str, held: tuple[Held, ...]) -> Rendering:
    place = (r.condition, r.language, r.wording)
    # equal texts may stand under several conditions; the hash decides, not the name
    bound = [c for _, c in held if (c.rendering_sha256, c.base_sha256) == (r.sha256, base_sha256)]
    human = [c for c in bound if c.evidence == "human"]
    if len(human) > 1:
        raise PolicyError(
            f"two sets of votes certify the text of {r.condition!r}",
            mend="Give one file of certificates, or certify all votes together",
        )
    others = [c for c in bound if c.evidence != "human" and c not in r.others]
    certificate = r.certificate
    if human and human[0] != certificate:
        others = [*([certificate] if certificate is not None else []), *others]
        certificate = human[0]
    elif not human:
        void = [
            c
            for p, c in held
            if c.evidence == "human"
            and c not in (*bound, *r.others, certificate)
            and (p.condition, p.language, p.wording) == place
        ]
        if certificate is None and void:
            certificate = void[0]
        else:
            others += void
    if certificate == r.certificate and not others:
        return r
    return r.model_copy(update={"certificate": certificate, "others": (*r.others, *others)})
