"""Policy and condition to text, by template: the only writer of policy texts."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_text, stable_seed
from judgeaudit.core.records import Norm, Policy, Protocol, Rendering
from judgeaudit.core.rooms import room
from judgeaudit.policy._toml import read_text
from judgeaudit.policy.mixing import Mix, rendered
from judgeaudit.policy.particles_ko import particle, verb_slots
from judgeaudit.policy.transforms import ForceWords, find_transform, intended, load_transforms

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["render", "render_all", "render_text"]

_JUDGING = ("threshold", "burden", "default")
_SLOT = re.compile(r"\{(\w+)\}")
_REFERENCE = re.compile(r"\{norm:(\w+)\}")


def render(
    policy: Policy,
    condition_id: str,
    *,
    language: str = "en",
    wording: int = 0,
    folder: Path | None = None,
) -> Rendering:
    """Render a policy under a condition, and read the text back.

    Parameters
    ----------
    policy : Policy
        The policy.
    condition_id : str
        "base", "T1", "strict", ...
    language : str
        Must be the policy's language.
    wording : int
        Which of a transform's wordings: picks from its lists of words, from the possible orders
        of the norms, and under `altered_rule` the norm. 0 is the one that is documented.
    folder : Path, optional
        A user's own folder of transforms.

    Returns
    -------
    Rendering
        With its `structural` certificate, passed or not; a changed text voids it.

    Raises
    ------
    PolicyError
        If the condition or the language is not known, or a template is broken.

    Examples
    --------
    >>> from judgeaudit.policy import load_policy, render
    >>> policy = load_policy("agent_safety")
    >>> render(policy, "T0").sha256 == render(policy, "base").sha256
    True
    """
    from judgeaudit.policy.readback import certify

    if language != policy.language:
        raise PolicyError(
            f"the policy {policy.id!r} has no text in {language!r}",
            mend=f"It has {policy.language!r}",
        )
    transform = find_transform(condition_id, folder)
    text = render_text(policy, condition_id, wording=wording, folder=folder)
    base = text if condition_id == "base" else render_text(policy, "base")
    return Rendering(
        policy_id=policy.id,
        policy_sha256=policy.sha256,
        condition=condition_id,
        language=language,
        wording=wording,
        text=text,
        sha256=sha256_text(text),
        certificate=certify(
            text,
            intended(policy, transform.head.change, wording),
            base_text=base,
            kind=transform.head.kind,
        ),
    )


def render_all(
    policy: Policy, protocol: Protocol, *, language: str = "en"
) -> tuple[Rendering, ...]:
    """Render a policy under each condition, in all its wordings where these keep the meaning.

    A text that a condition has already is left out: asked twice, it would be a repeat.
    """
    made: list[Rendering] = []
    for c in protocol.conditions:
        seen: set[str] = set()
        for wording in range(protocol.wordings if c.kind in ("certified", "near") else 1):
            r = render(policy, c.id, language=language, wording=wording)
            if r.sha256 not in seen:
                seen.add(r.sha256)
                made.append(r)
    return tuple(made)


def render_text(
    policy: Policy,
    condition_id: str,
    *,
    wording: int = 0,
    folder: Path | None = None,
    mix: Mix | None = None,
) -> str:
    """Render the text alone, without a certificate; of a mix, what it takes of the rewrite."""
    from jinja2 import TemplateError

    mix = mix or Mix()

    if wording < 0:
        raise PolicyError(f"wording {wording} is negative", mend="Count wordings from 0")
    transform = find_transform(condition_id, folder)
    stated = intended(policy, transform.head.change, wording)
    head = transform.head
    plain = find_transform("base").head.forces.get(policy.language, {})
    forces = {**plain, **head.forces.get(policy.language, {})}

    def view(index: int, norm: Norm, stated: Policy) -> dict[str, Any]:
        if forces != plain and not mix.takes("words", norm.id):
            return _view(stated, index, plain, 0)
        return _view(stated, index, forces, wording)

    norms = [] if stated is None else [view(i, n, stated) for i, n in enumerate(stated.norms)]
    seed = (policy.id, condition_id, wording)
    if "norms" in head.reorder and mix.takes("norms"):
        norms = _reorder(norms, seed, "norms")
    for number, norm in enumerate(norms, start=1):
        norm["number"] = number
        several = len(norm["exceptions"]) > 1
        if several and "exceptions" in head.reorder and mix.takes("exceptions", norm["id"]):
            norm["exceptions"] = _reorder(norm["exceptions"], seed, norm["id"])
    by_id = {norm["id"]: norm for norm in norms}
    for norm in norms:
        norm["subject_to"] = [by_id[id_] for id_ in norm["subject_to"]]
    judging = list(_JUDGING)
    if "judging" in head.reorder and mix.takes("judging"):
        judging = _reorder(judging, seed, "judging")
    try:
        values = {
            "by_id": by_id,
            "base": f"base.{policy.language}.md.j2",
            "policy": stated if stated is not None else policy,
            "norms": norms,
            "judging": judging,
            "words": _words(head.words.get(policy.language, {}), wording),
        }
        template = _environment(folder).get_template(f"{condition_id}.md.j2")
        # a whole rewrite goes the way that Jinja itself goes
        raw = template.render(values) if mix.on is None else rendered(template, values, mix)
    except TemplateError as e:
        line = getattr(e, "lineno", None)
        raise PolicyError(
            f"template error: {e}",
            where=transform.file + (f", line {line}" if line else ""),
            mend="Mend the template",
        ) from e
    return re.sub(r"\n{3,}", "\n\n", raw).strip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class _ExceptionView:
    """An exception as a template sees it; printed, it is its outer clause."""

    when: str
    only_if: tuple[str, ...]
    but_not: tuple[str, ...]

    def __str__(self) -> str:
        return self.when


def _view(
    policy: Policy,
    index: int,
    forces: Mapping[Any, tuple[ForceWords, ...]],
    wording: int,
) -> dict[str, Any]:
    """Make the values of one norm that a template puts together."""
    norm: Norm = policy.norms[index]
    if norm.force not in forces:
        raise PolicyError(
            f"no words for the force {norm.force!r} in {policy.language!r}",
            where="transforms/base.md.j2",
        )
    words = forces[norm.force][wording % len(forces[norm.force])]
    plural = policy.is_plural(norm)
    verb = norm.action.verb
    slots = {**verb, "is": "are" if plural else "is", "has": "have" if plural else "has"}
    passive = words.passive
    if policy.language == "ko":
        slots = verb_slots(verb)
        # a verb without a passive keeps its active form behind its object
        passive = words.active if "{passive}" in passive and "passive" not in verb else passive

    def fill(pattern: str) -> str:
        return _SLOT.sub(lambda m: slots.get(m[1], m[0]), pattern)

    return {
        "id": norm.id,
        "number": index + 1,
        "title": norm.title,
        "bearer": policy.bearer_of(norm),
        "active": fill(words.active),
        "passive": fill(passive),
        "voice": "passive" if policy.language == "en" or "{passive}" in passive else "active",
        "object": norm.action.object,
        "rest": norm.action.rest,
        "scope": norm.scope,
        "subject_to": list(norm.subject_to),
        "exceptions": [_ExceptionView(e.when, e.only_if, e.but_not) for e in norm.exceptions],
    }


def _reorder(things: list[Any], seed: tuple[object, ...], what: str) -> list[Any]:
    """Reverse for wording 0; otherwise shuffle by seed, and never return the original order."""
    if seed[-1] == 0 or len(things) < 3:
        return things[::-1]
    order = list(range(len(things)))
    rng = random.Random(stable_seed(*seed, what))  # noqa: S311
    while order == sorted(order):
        rng.shuffle(order)
    return [things[i] for i in order]


def _words(words: Mapping[str, object], wording: int) -> dict[str, object]:
    """Pick from every list of alternatives; a single text stands for itself."""
    return {
        name: value[wording % len(value)] if isinstance(value, tuple) else value
        for name, value in words.items()
    }


@lru_cache(maxsize=16)
def _environment(folder: Path | None) -> ImmutableSandboxedEnvironment:
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    transforms = {f"{id_}.md.j2": t.template for id_, t in load_transforms(folder).items()}

    def load(name: str) -> str | None:
        if name in transforms:
            return transforms[name]
        path = room("policies") / "templates" / name
        return read_text(path) if path.is_file() else None

    env = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters["cap"] = lambda text: text[:1].upper() + text[1:]
    env.filters["josa"] = particle
    env.filters["words"] = lambda parts: " ".join(p for p in parts if p)
    env.filters["plain"] = _plain
    env.filters["clause"] = _clause
    return env


def _plain(number: float) -> str:
    """Write a number in full: no exponent, no trailing zero."""
    exact = Decimal(repr(number))
    return f"{exact.quantize(Decimal(1)) if exact == exact.to_integral_value() else exact:f}"


def _clause(text: object, by_id: Mapping[str, Mapping[str, Any]], pattern: str) -> str:
    """Word the references of a clause; `pattern` has the slots of a norm ({number}, {title})."""

    def name(m: re.Match[str]) -> str:
        norm = by_id[m[1]]
        return _SLOT.sub(lambda slot: str(norm.get(slot[1], slot[0])), pattern)

    return _REFERENCE.sub(name, str(text))
