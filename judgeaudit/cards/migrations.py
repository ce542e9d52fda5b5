"""Cards of older layouts, brought to the present one, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.model import SCHEMA_VERSION
from judgeaudit.core.errors import CardError

__all__ = ["MIGRATIONS", "READABLE", "Migrated", "Migration", "migrated"]

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a layout to the next.

    Parameters
    ----------
    old, new : str
        Versions of the layout.
    step : callable
        Takes a card as JSON of the old layout, and returns one of the new; may change its own
        copy. What the old layout did not hold is filled with what says "not recorded".
    added : tuple of str
        Paths, with dots, that the old layout did not have: never compared for such a card.
    metrics, flags : frozenset of str
        All that a card of the old layout could hold: another one is new since, not left out.
    warnings : frozenset of str
        Codes of warnings that came with the new layout.
    """

    old: str
    new: str
    step: Callable[[Tree], Tree]
    added: tuple[str, ...]
    metrics: frozenset[str]
    flags: frozenset[str]
    warnings: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Migrated:
    """A card as JSON of the present layout, and the steps that brought it there."""

    data: Tree
    steps: tuple[Migration, ...] = ()

    @property
    def version(self) -> str:
        """The layout in which the card was written."""
        return self.steps[0].old if self.steps else SCHEMA_VERSION

    @property
    def added(self) -> tuple[str, ...]:
        """Paths that the card did not have when it was written."""
        return tuple(path for step in self.steps for path in step.added)


def _to_1_1(card: Tree) -> Tree:
    """Add the head of the ledger's chain, the plan's hash, and the files a card was made with."""
    facts = card.get("facts")
    if isinstance(facts, dict):
        card["facts"] = {**facts, "ledger_head": "", "plan_sha256": ""}
    return {**card, "parameters": {"certificates": [], "labels": None}, "checklist": []}


_METRICS_1_0: Final = frozenset(
    [
        "accuracy",
        "balanced_accuracy",
        "corrected_ppi",
        "corrected_ppi_plus",
        "corrected_rate",
        "corrected_rogan_gladen",
        "delta_debiased",
        "delta_paper",
        "delta_paper_bca",
        "direction_ratio",
        "flip_rate",
        "forward_rate",
        "gee_log_odds",
        "human_rate",
        "jitter",
        "judge_rate",
        "outcome_rate",
        "pis",
        "pis_raw",
        "precision_share",
        "responsiveness_inverted",
        "responsiveness_no_policy",
        "responsiveness_threshold",
        "reverse_rate",
        "rms_shift",
        "signed_shift",
        "soft_delta_debiased",
        "soft_delta_paper",
        "soft_direction_ratio",
        "soft_flip_rate",
        "soft_jitter",
        "soft_undue_share",
        "tnr",
        "tpr",
        "undue_ambiguous",
        "undue_ambiguous_delta_debiased",
        "undue_ambiguous_delta_paper",
        "undue_clear",
        "undue_clear_delta_debiased",
        "undue_clear_delta_paper",
        "undue_null",
        "undue_risk_ratio",
        "undue_share",
        "unsafe_rate",
        "vacuum_unsafe_rate",
        "variance_share",
    ]
)
_FLAGS_1_0: Final = frozenset(
    [
        "band",
        "certified_gate",
        "clusters",
        "identified",
        "not_called",
        "not_certified",
        "not_in_protocol",
        "placebo",
        "precision",
        "responsiveness",
        "stopping",
    ]
)

MIGRATIONS: Final[dict[str, Migration]] = {
    "1.0": Migration(
        old="1.0",
        new="1.1",
        step=_to_1_1,
        added=(
            *("facts.ledger_head", "facts.plan_sha256", "parameters", "checklist"),
            *(f"facts.extra.{name}" for name in ("fingerprints", "triage", "statements")),
        ),
        metrics=_METRICS_1_0,
        flags=_FLAGS_1_0,
        warnings=frozenset({"fingerprints_changed", "triage", "void", "wording_decides_answer"}),
    ),
}
"""Old version to the step that leaves it; the steps form one chain to `SCHEMA_VERSION`."""

_ABSENT: Final = object()

READABLE: Final = (*MIGRATIONS, SCHEMA_VERSION)
"""All versions that this program reads, the oldest first."""


def _numbers(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(p) for p in version.split("."))
    except ValueError:
        return ()


def migrated(data: Tree, *, where: str = "card") -> Migrated:
    """Bring a card to the present layout; one of the present layout is left as it is.

    Parameters
    ----------
    data : dict
        A card as JSON; may be changed.
    where : str
        Name of the file, for messages.

    Raises
    ------
    CardError
        If the card has no version, a newer one, or one that never was.
    """
    if "schema_version" not in data:
        raise CardError(
            "not a Judge Card: it has no schema_version",
            where=where,
            mend="Give a card.json made by judgeaudit",
        )
    steps = []
    while (version := data["schema_version"]) != SCHEMA_VERSION:
        step = MIGRATIONS.get(version) if isinstance(version, str) else None
        if step is None:
            raise _unknown(str(version), where)
        _refuse_newer_fields(data, step, where)
        data = {**step.step(data), "schema_version": step.new}
        steps.append(step)
    return Migrated(data, tuple(steps))


def _refuse_newer_fields(data: Tree, step: Migration, where: str) -> None:
    """Refuse a card that calls itself old and holds what came later: nobody would check that."""
    for path in step.added:
        node: Any = data
        for part in path.split("."):
            node = node.get(part, _ABSENT) if isinstance(node, dict) else _ABSENT
        if node is not _ABSENT:
            raise CardError(
                f"{path}: a card of schema version {step.old} has no such field",
                where=where,
                mend="Make the card again from its ledger",
            )


def _unknown(version: str, where: str) -> CardError:
    newer = _numbers(version) > _numbers(SCHEMA_VERSION)
    reads = (
        f"newer than {SCHEMA_VERSION}, the newest that this program reads"
        if newer
        else f"not one that this program reads ({', '.join(READABLE)})"
    )
    return CardError(
        f"schema version {shorten(version, 20)!r} is {reads}",
        where=where,
        mend="Upgrade judgeaudit" if newer else "Make the card again from its ledger",
    )
