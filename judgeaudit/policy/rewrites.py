"""A user's own rewrites: a folder of texts, one file a condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from judgeaudit.core.errors import PolicyError, unknown_name
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import (
    Certificate,
    Condition,
    ConditionKind,
    Dimension,
    Policy,
    PolicyFacts,
    Record,
    Rendering,
)
from judgeaudit.policy._toml import check, parse, place, read_text

__all__ = ["OwnRewrites", "load_rewrites"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_SIX: Final[tuple[Dimension, ...]] = (
    "deontic_force", "scope", "exception_set", "burden_of_proof", "default_rule",
    "implicit_threshold",
)  # fmt: skip


class _Entry(Record):
    """What `rewrites.toml` says of one file."""

    kind: ConditionKind | Literal["planted"]
    moves: tuple[Dimension, ...] = ()
    summary: str = ""


class _Head(Record):
    """`rewrites.toml`: all of it is optional."""

    id: str = Field(default="", pattern=r"^([a-z][a-z0-9_]*)?$")
    title: str = ""
    source: str = ""
    language: str = "en"
    policy: str = ""
    conditions: dict[str, _Entry] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnRewrites:
    """A folder of texts, read.

    Parameters
    ----------
    renderings : tuple of Rendering
        With a structural certificate where the text, and the base text, read back against the
        policy; without one otherwise, and then with the reading in `others`.
    conditions : tuple of Condition
        One for each condition that can be asked, the base text's own (T0, vacuum) and the
        missing policy (no_policy) among them.
    facts : PolicyFacts
        Of the policy, or, where none is given, of the base text.
    policy : Policy, optional
        What the texts were read back against.
    planted : tuple of str
        Texts that are wrong on purpose, for a rating sheet.
    """

    renderings: tuple[Rendering, ...]
    conditions: tuple[Condition, ...]
    facts: PolicyFacts
    policy: Policy | None
    planted: tuple[str, ...]

    def rated(
        self, ids: Sequence[str] | None = None
    ) -> tuple[Rendering, list[tuple[Rendering, Condition]]]:
        """Return the base text, and the rewrites that people can certify.

        Raises
        ------
        PolicyError
            If a condition is not in the folder.
        """
        known = {c.id: c for c in self.conditions}
        for id_ in ids or ():
            if id_ not in known:
                raise PolicyError(unknown_name("condition", id_, list(known)))
        base = next(r for r in self.renderings if r.condition == "base")
        chosen = ids or [c.id for c in self.conditions if c.kind in ("certified", "near")]
        return base, [(r, known[r.condition]) for r in self.renderings if r.condition in chosen]


def load_rewrites(folder: Path, *, policy: Policy | None = None) -> OwnRewrites:
    """Load a folder of texts: `base.md`, `T1.md`, ... and an optional `rewrites.toml`.

    Parameters
    ----------
    folder : Path
        A file named after a shipped condition is of that condition's kind; others need a line in
        `rewrites.toml` (`[conditions.mine]`, `kind = "certified"`). Kind `planted` marks a text
        that is wrong on purpose: it goes into rating sheets and nowhere else.
    policy : Policy, optional
        What the texts are meant to state; `rewrites.toml` may name it instead.

    Raises
    ------
    PolicyError
        If there is no base text, a file has no kind or holds nothing or control characters, or
        `rewrites.toml` is wrong.
    """
    from judgeaudit.policy.loading import facts, load_policy
    from judgeaudit.policy.transforms import load_conditions

    if not folder.is_dir():
        raise PolicyError("no such folder of rewrites", where=str(folder), mend="Check the path")
    head = _head(folder)
    if policy is None and head.policy:
        inside = folder / head.policy
        policy = load_policy(inside if inside.is_file() else head.policy)
    texts = {p.stem: _text(p) for p in sorted(folder.glob("*.md"))}
    if "base" not in texts:
        raise PolicyError(
            "there is no base.md",
            where=str(folder),
            mend="Put the original text there: all others are compared with it",
        )
    language = policy.language if policy is not None else head.language
    known = load_conditions()
    conditions: dict[str, Condition] = {}
    planted: list[str] = []
    for name, text in texts.items():
        entry = head.conditions.get(name)
        if entry is not None and entry.kind == "planted":
            planted.append(text)
        else:
            conditions[name] = _condition(name, entry, known, folder)
    for name in ("T0", "no_policy", "vacuum"):
        conditions.setdefault(name, known[name])
    base = texts["base"]
    about = facts(policy) if policy is not None else _facts(folder, head, base, language)
    # what every policy's missing text says does not depend on the policy
    for name in ("T0", "vacuum"):
        texts.setdefault(name, base)
    texts.setdefault("no_policy", _no_policy(language, policy))
    order = {id_: i for i, id_ in enumerate(known)}
    ids = sorted(conditions, key=lambda i: (order.get(i, len(order)), i))
    renderings = [
        Rendering(
            policy_id=about.id,
            policy_sha256=about.sha256,
            condition=id_,
            language=language,
            text=texts[id_],
            sha256=sha256_text(texts[id_]),
        )
        for id_ in ids
    ]
    if policy is not None:
        renderings = _read_back(renderings, policy, conditions)
    return OwnRewrites(
        renderings=tuple(renderings),
        conditions=tuple(conditions[i] for i in ids),
        facts=about,
        policy=policy,
        planted=tuple(planted),
    )


def _head(folder: Path) -> _Head:
    path = folder / "rewrites.toml"
    if not path.is_file():
        return _Head()
    data, lines = parse(read_text(path), str(path))
    head = check(_Head, data, str(path), lines)
    for name, entry in head.conditions.items():
        at = ("conditions", name)
        if not (folder / f"{name}.md").is_file():
            raise PolicyError(
                f"there is no {name}.md", where=place(str(path), at, lines), mend="Add the file"
            )
        if entry.moves and entry.kind in ("reference", "placebo", "certified", "near"):
            raise PolicyError(
                f"kind {entry.kind!r} must keep all six dimensions",
                where=place(str(path), (*at, "moves"), lines),
                mend="Remove `moves`, or use kind 'threshold' or 'control'",
            )
    return head


def _text(path: Path) -> str:
    if not _NAME.match(path.stem):
        raise PolicyError(
            f"{path.stem!r} is not a condition's id",
            where=str(path),
            mend="Use letters, digits and underscores, a letter first",
        )
    text = read_text(path).replace("\r", "\n")
    if not text.strip():
        raise PolicyError("the text is empty", where=str(path), mend="Fill it, or remove the file")
    for number, line in enumerate(text.split("\n"), start=1):
        bad = next((c for c in line if not c.isprintable() and c not in "\t\u00a0\u3000"), None)
        if bad is not None:
            raise PolicyError(
                f"the text holds a character that cannot be seen (U+{ord(bad):04X})",
                where=f"{path}, line {number}",
                mend="Remove it: a judge would read what no rater sees",
            )
    return text.strip("\n") + "\n"


def _condition(
    name: str, entry: _Entry | None, known: dict[str, Condition], folder: Path
) -> Condition:
    if entry is None:
        if name in known:
            return known[name]
        raise PolicyError(
            f"what kind of condition {name!r} is, is not said",
            where=str(folder / f"{name}.md"),
            mend=f'Add to rewrites.toml: [conditions.{name}] with kind = "certified" (or near, '
            "threshold, control, planted)",
        )
    if (name == "base") != (entry.kind == "reference"):
        raise PolicyError(
            f"{name!r} cannot have the kind {entry.kind!r}",
            where=str(folder / "rewrites.toml"),
            mend="Kind 'reference' belongs to base.md alone",
        )
    assert entry.kind != "planted"
    moves = entry.moves or (_SIX if entry.kind in ("threshold", "control") else ())
    if name in known and known[name].kind == entry.kind:
        moves = entry.moves or known[name].moves
    return Condition(id=name, kind=entry.kind, moves=moves, summary=entry.summary)


def _facts(folder: Path, head: _Head, base: str, language: str) -> PolicyFacts:
    slug = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return PolicyFacts(
        id=head.id or (slug if slug[:1].isalpha() else f"own_{slug}"),
        title=head.title or folder.resolve().name,
        sha256=sha256_text(base),
        n_norms=None,
        n_exceptions=None,
        language=language,
        source=head.source or "a text of the user's own, without a policy as data",
    )


def _no_policy(language: str, policy: Policy | None) -> str:
    from judgeaudit.policy.loading import load_policy, policy_names
    from judgeaudit.policy.rendering import render_text

    if policy is not None:
        return render_text(policy, "no_policy")
    for name in policy_names():
        any_policy = load_policy(name)
        if any_policy.language == language:
            return render_text(any_policy, "no_policy")
    raise PolicyError(
        f"there is no text for a missing policy in {language!r}", mend="Add a no_policy.md"
    )


def _read_back(
    renderings: list[Rendering], policy: Policy, conditions: dict[str, Condition]
) -> list[Rendering]:
    """Certify the texts that read back against the policy, if the base text does, too."""
    from judgeaudit.policy.readback import certify
    from judgeaudit.policy.transforms import Change, intended, load_transforms

    base = next(r for r in renderings if r.condition == "base")
    shipped = load_transforms()
    made: dict[str, Certificate] = {}
    for r in renderings:
        kind = conditions[r.condition].kind
        # a transform that ships says what it changes; a changed policy of the user's own is
        # not known as data, and cannot be read back
        if r.condition in shipped and shipped[r.condition].head.kind == kind:
            change = shipped[r.condition].head.change
        elif kind in ("certified", "near", "placebo"):
            change = Change()
        else:
            continue
        made[r.condition] = certify(
            r.text, intended(policy, change), base_text=base.text, kind=kind
        )
    sound = made["base"].passed
    return [
        r
        if (c := made.get(r.condition)) is None
        else r.model_copy(update={"certificate": c} if c.passed and sound else {"others": (c,)})
        for r in renderings
    ]
