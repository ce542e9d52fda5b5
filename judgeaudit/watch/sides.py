"""One side of a comparison: a run with its verdicts, or a card with its scores alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.audit import LEDGER
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Protocol, ScoreSet
from judgeaudit.core.table import VerdictTable, only_items
from judgeaudit.metrics import View
from judgeaudit.scoring import score

if TYPE_CHECKING:
    from judgeaudit.cards.model import CardFacts
    from judgeaudit.core.records import RunFacts
    from judgeaudit.engine.view import LedgerView

__all__ = ["Side", "common", "load", "only_items", "same_protocol"]


@dataclass(frozen=True, slots=True)
class Side:
    """A run, or a card of one.

    Parameters
    ----------
    name : str
        Its path, as it was given.
    facts : RunFacts or CardFacts
        Who was judged, on what, how.
    table : VerdictTable, optional
        Outcomes of all calls; None for a card.
    printed : ScoreSet, optional
        Scores as they stand on a card; None for a run, which is scored as it is needed.
    uncertified : frozenset of str
        Conditions that are scored but not pooled.
    texts : mapping of "condition wording" to str
        Hash of each wording of the policy.
    trajectories : mapping of item key to str
        Hash of what each item shows the judge; empty for a card.
    fingerprints : frozenset of str
        What the server said of its own software and weights.
    """

    name: str
    facts: RunFacts | CardFacts
    table: VerdictTable | None
    printed: ScoreSet | None = None
    uncertified: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)
    trajectories: Mapping[str, str] = field(default_factory=dict)
    fingerprints: frozenset[str] = frozenset()

    @property
    def protocol(self) -> Protocol:
        """How its calls were laid out."""
        return self.facts.protocol

    @property
    def verdicts(self) -> VerdictTable:
        """The table of a run.

        Raises
        ------
        ConfigError
            Of a card, which holds none.
        """
        if self.table is None:
            raise ConfigError("is a card, which holds no verdicts", where=self.name)
        return self.table

    def view(self) -> View:
        """Return a run as metrics see it."""
        return View(self.verdicts, self.protocol, self.protocol.seed, self.uncertified)

    def scores(self, level: float | None = None, metrics: Sequence[str] | None = None) -> ScoreSet:
        """Score the run, at a level of its own if wanted; a card's scores are what they are."""
        if self.table is None:
            return self.printed or ScoreSet(scores=())
        protocol = self.protocol
        if level is not None:
            protocol = protocol.model_copy(update={"level": level})
        return score(
            self.table,
            protocol,
            seed=protocol.seed,
            uncertified=self.uncertified,
            metrics=metrics,
        )


def load(path: Path | str) -> Side:
    """Read a run (its folder or ledger) or a card (`card.json`).

    Raises
    ------
    JudgeAuditError
        If there is neither.
    """
    place = Path(path)
    if place.is_dir() and not (place / LEDGER).exists() and (place / "card.json").exists():
        place = place / "card.json"
    if place.suffix == ".json":
        return _card(place)
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.review.texts import uncertified

    with Ledger.open_readonly(place / LEDGER if place.is_dir() else place) as view:
        meta = view.meta
        return Side(
            name=str(path),
            facts=view.facts(),
            table=view.table(),
            uncertified=uncertified(meta, meta.renderings),
            texts={f"{r.condition} {r.wording}".strip(): r.sha256 for r in meta.renderings},
            trajectories=_trajectories(view),
            fingerprints=_fingerprints(view),
        )


def _trajectories(view: LedgerView) -> dict[str, str]:
    rows = view.connection.execute(
        "SELECT i.key, p.sha256 FROM items i JOIN parts p ON p.id = i.trajectory"
    )
    return {str(key): bytes(sha).hex() for key, sha in rows}


def _fingerprints(view: LedgerView) -> frozenset[str]:
    rows = view.connection.execute(
        "SELECT DISTINCT s.fingerprint FROM verdicts v JOIN served s ON s.id = v.served "
        "WHERE s.fingerprint IS NOT NULL"
    )
    return frozenset(str(f) for (f,) in rows)


def _card(path: Path) -> Side:
    from judgeaudit.cards import verify

    card = verify.given(path).card
    return Side(
        name=str(path),
        facts=card.facts,
        table=None,
        printed=card.scores,
        texts={f"{r.condition} {r.wording}".strip(): r.sha256 for r in card.facts.renderings},
    )


def common(a: Side, b: Side) -> tuple[Side, Side]:
    """Cut two runs down to the items that both have, in one order.

    Raises
    ------
    ConfigError
        If there is none.
    """
    one, two = a.verdicts, b.verdicts
    place = {key: k for k, key in enumerate(two.items)}
    keys = [k for k in one.items if k in place]
    if not keys:
        raise ConfigError(
            "the two runs have no item in common",
            where=f"{a.name} and {b.name}",
            mend="Compare runs of one corpus",
        )
    mine = [k for k, key in enumerate(one.items) if key in place]
    theirs = [place[key] for key in keys]
    first = only_items(one, mine)
    # one grouping for both, or a difference would have two
    second = replace(only_items(two, theirs), clusters=first.clusters)
    return replace(a, table=first), replace(b, table=second)


def same_protocol(a: Side, b: Side) -> None:
    """Refuse two sides whose calls were laid out differently.

    Raises
    ------
    ConfigError
        Names each field in which they differ.
    """
    from judgeaudit.cards.differences import differences

    one, two = (
        s.protocol.model_dump(mode="json", exclude={"seed", "preset", "level"}) for s in (a, b)
    )
    found = list(differences(one, two))
    if not found:
        return
    said = "; ".join(f"{d.path}: {_short(d.old)} against {_short(d.new)}" for d in found[:6])
    more = f"; and {len(found) - 6} more" if len(found) > 6 else ""
    raise ConfigError(
        f"the two were made under different protocols ({said}{more})",
        where=f"{a.name} and {b.name}",
        mend="Audit again with the conditions and repeats of the first",
    )


def _short(value: object) -> str:
    named = value.get("id") if isinstance(value, dict) else None
    text = str(value if named is None else named)
    return text if len(text) <= 60 else text[:57] + "..."
