"""Part of a rewrite: which norms and sentences of a text are worded as the rewrite words them.

A rendering is put together from small choices: the words of each norm, its voice, where its
exceptions stand, the order of norms, the sentence of the threshold. A mix takes each of them from
the base or from the rewrite, through the templates themselves; no text is cut or spliced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context

__all__ = ["Mix", "Slot", "rendered"]

_PLACE: Final = frozenset({"lead", "inline"})
"""Blocks that leave out the exceptions of a norm, where these stand in front."""


class Slot(NamedTuple):
    """One choice that a rewrite makes.

    Parameters
    ----------
    kind : str
        words, voice, order, place, exceptions (of the norm `at`); norms, judging (what is put in
        another order); or the name of a block of the template.
    at : str
        Id of a norm; empty where it belongs to none.
    """

    kind: str
    at: str = ""


@dataclass(slots=True)
class Mix:
    """Takes some choices from the rewrite, all others from the base.

    Parameters
    ----------
    on : frozenset of Slot, optional
        Choices taken from the rewrite; None: all of them.
    asked : dict of Slot to None
        Every choice that the templates turned out to make, in the order of the text.
    """

    on: frozenset[Slot] | None = None
    asked: dict[Slot, None] = field(default_factory=dict)

    def takes(self, kind: str, at: str = "") -> bool:
        """Say whether a choice is taken from the rewrite, and note that there is one."""
        slot = Slot(kind, at)
        self.asked.setdefault(slot)
        return self.on is None or slot in self.on


def rendered(template: Template, values: Mapping[str, Any], mix: Mix) -> str:
    """Render a template, each of its blocks as the mix wants it.

    Parameters
    ----------
    template : Template
        The rewrite's: a chain of templates that ends in the base.
    values : mapping
        What a template is rendered with.
    """
    context = template.new_context(dict(values))
    context.blocks = _Blocks(mix, context.blocks)
    return "".join(template.root_render_func(context))


Block = Callable[["Context"], Iterator[str]]


class _Blocks(dict[str, list[Block]]):
    """The blocks of a template, each led by the one that chooses among those that follow."""

    def __init__(self, mix: Mix, own: Mapping[str, list[Block]]) -> None:
        super().__init__({name: [_chooser(name, mix), *of] for name, of in own.items()})
        self._mix = mix

    def setdefault(self, name: str, default: list[Block] | None = None) -> list[Block]:
        """Lead a block that only a template further down has, too."""
        if name not in self:
            self[name] = [_chooser(name, self._mix), *(default or [])]
        return self[name]


def _chooser(name: str, mix: Mix) -> Block:
    def choose(context: Context) -> Iterator[str]:
        mine, *parents = context.blocks[name][1:]
        base = parents[-1] if parents else mine
        norm = context.get("n")
        in_front = len(context.blocks.get("front", ())) > 2
        if name == "front" and parents:
            norms = [n for n in context["norms"] if n["exceptions"] and mix.takes("place", n["id"])]
            yield from mine(context.derived({"norms": norms}))
        elif name == "norm" and norm is not None:
            away = in_front and bool(norm["exceptions"]) and mix.takes("place", norm["id"])
            shown = {**norm, "exceptions": []} if away else norm
            yield from _norm(context.derived({"n": shown}), mix, mine, base, norm, bool(parents))
        elif name in _PLACE:
            # a norm whose exceptions stand in front comes here without them
            whole = in_front and not norm["exceptions"]
            yield from (mine if whole else base)(context)
        else:
            at = norm["id"] if norm is not None else ""
            yield from (mine if not parents or mix.takes(name, at) else base)(context)

    return choose


def _norm(
    context: Context,
    mix: Mix,
    mine: Block,
    base: Block,
    norm: Mapping[str, Any],
    turned: bool,
) -> Iterator[str]:
    """Word a norm; a rewrite that turns it makes two choices: its voice, and what comes first."""
    if not turned:
        yield from base(context)
        return
    voice = mix.takes("voice", norm["id"])
    first = mix.takes("order", norm["id"]) if norm["exceptions"] else voice
    if voice == first or not context["n"]["exceptions"]:
        first = voice
    say = context["say"]
    if first and not voice:
        context = context.derived({"say": _Voice(say, active=True)})
    elif voice and not first:
        context = context.derived({"say": _Voice(say, active=False)})
    yield from (mine if first else base)(context)


class _Voice:
    """The sentences of a language with one voice in the place of the other."""

    def __init__(self, say: Any, *, active: bool) -> None:
        self._say, self._active = say, active

    def __getattr__(self, name: str) -> Any:
        return getattr(self._say, name)

    def active(self, n: Mapping[str, Any]) -> str:
        """Say a norm where a sentence begins."""
        text = str((self._say.active if self._active else self._say.passive)(n)).strip()
        return text[:1].upper() + text[1:]

    def passive(self, n: Mapping[str, Any]) -> str:
        """Say a norm inside of a sentence."""
        if not self._active:
            return str(self._say.passive(n))
        text = str(self._say.active(n))
        first = "s" if n["subject_to"] else str(n["bearer"])[:1]
        return text if text[:1].lower() != first.lower() else first + text[1:]
