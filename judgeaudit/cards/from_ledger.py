"""Scores and cards as functions of a ledger, of the files given with it, and of a time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.cards.assemble import build
from judgeaudit.cards.attacked import attacked_told
from judgeaudit.cards.localised import KEY, localised_told
from judgeaudit.cards.model import CardParameters, InputFile, JudgeCard
from judgeaudit.core.errors import CardError

if TYPE_CHECKING:
    from judgeaudit.core.records import Rendering, RunFacts, ScoreSet
    from judgeaudit.engine.view import LedgerView

__all__ = ["card_of", "input_file", "scores_of"]


def input_file(path: Path | str) -> InputFile:
    """Name a file by its last name and what it holds.

    Raises
    ------
    CardError
        If it cannot be read.
    """
    try:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as e:
        raise CardError(f"cannot be read: {e.strerror or e}", where=str(path)) from e
    return InputFile(name=Path(path).name, sha256=digest)


def scores_of(view: LedgerView, renderings: tuple[Rendering, ...]) -> ScoreSet:
    """Score the run of a ledger, with these certificates on its texts."""
    from judgeaudit.engine.deciding import found_in
    from judgeaudit.metrics.stopping import restated
    from judgeaudit.review.texts import uncertified
    from judgeaudit.scoring import score as score_table

    protocol = view.meta.protocol
    bare = uncertified(view.meta, renderings)
    scores = score_table(view.table(), protocol, seed=protocol.seed, uncertified=bare)
    triples = found_in(view)
    return scores if triples is None else restated(scores, triples, protocol)


def card_of(
    view: LedgerView,
    created: str | None,
    certificates: Sequence[Path] = (),
    *,
    folder: Path | None = None,
    labels: Path | None = None,
    statements: Path | None = None,
    confidence: str | None = None,
    localised: bool = True,
    attacked: bool = True,
) -> tuple[JudgeCard, ScoreSet, RunFacts]:
    """Make the card of a ledger.

    Parameters
    ----------
    view : LedgerView
        The ledger.
    created : str, optional
        The card's time; by default the time of the last committed answer.
    certificates : sequence of path
        Certificates on the run's texts, made since.
    folder : path, optional
        Where the run lies; its other ledgers are beside it.
    labels, statements, confidence
        What stands beside the run; see `review.adding.added_to`.
    localised : bool
        Whether to tell what `judgeaudit localise` found, where that lies in the folder.
    attacked : bool
        Whether to tell what `judgeaudit attack` found, where that lies in the folder.

    Returns
    -------
    tuple
        The card, and the scores and facts that it was built from.
    """
    from judgeaudit.judges import _choice as choice
    from judgeaudit.review.adding import added_to
    from judgeaudit.review.texts import certified

    renderings = certified(view.meta.renderings, certificates)
    scores = scores_of(view, renderings)
    note = view.meta.extra.get("judge_note") or choice.note_on(view.meta.judge)
    facts = view.facts(note)
    facts = facts.model_copy(update={"renderings": renderings})
    if folder is not None and localised:
        told = localised_told(folder, view.plan_sha256)
        if told is not None:
            facts = facts.model_copy(update={"extra": facts.extra | {KEY: told}})
    steered = attacked_told(folder if attacked else None, view.plan_sha256)
    facts = facts.model_copy(update={"extra": facts.extra | steered})
    if labels or statements or confidence:
        added = added_to(
            view,
            folder or Path(),
            labels=labels,
            statements=statements,
            confidence=confidence,
        )
        scores, facts = added.to(scores, facts)
    given = CardParameters(
        certificates=tuple(map(input_file, certificates)),
        labels=None if labels is None else input_file(labels),
        statements=None if statements is None else input_file(statements),
        confidence=confidence,
    )
    time = created or facts.ended or view.meta.created
    return build(facts, scores, created=time, parameters=given), scores, facts
