"""What a card may hold beside its ledger: labels by people, statements, sources of confidence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.core.errors import CardError
from judgeaudit.core.records import Record, RunFacts, Score, ScoreSet
from judgeaudit.core.toml import read_toml, record_from

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["Added", "Statements", "added_to", "read_statements"]


class Statements(Record):
    """What no run can know, stated by whoever made it.

    Parameters
    ----------
    by : str
        Who states it.
    items : str, optional
        How the items were drawn from what the judge will see.
    contamination : str, optional
        How it was tested whether the judge met the items in training, and what was found.
    """

    by: str
    items: str = ""
    contamination: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """Scores and facts that are put beside those of the ledger."""

    scores: tuple[Score, ...]
    facts: dict[str, Any]

    def to(self, scores: ScoreSet, facts: RunFacts) -> tuple[ScoreSet, RunFacts]:
        """Return scores and facts with what is added."""
        more = {"scores": scores.scores + self.scores}
        extra = facts.extra | self.facts
        return scores.model_copy(update=more), facts.model_copy(update={"extra": extra})


def read_statements(path: Path) -> Statements:
    """Read a TOML file of statements.

    Raises
    ------
    CardError
        If it cannot be read, has an unknown key, or does not say who states it.
    """
    data, text = read_toml(path, CardError)
    found = record_from(Statements, data, text=text, path=path, error=CardError)
    if not found.by.strip():
        raise CardError("nobody is named", where=str(path), mend='Say who states it: by = "..."')
    return found


def added_to(
    view: LedgerView,
    folder: Path,
    *,
    labels: Path | None = None,
    statements: Path | None = None,
    confidence: str | None = None,
) -> Added:
    """Gather what stands beside a run.

    Parameters
    ----------
    view : LedgerView
        The run.
    folder : Path
        Where it lies.
    labels : path, optional
        Human labels on a random few items, for a section on corrected rates.
    statements : path, optional
        A TOML file with what no run can know; see `Statements`.
    confidence : {"lexical", "asked"}, optional
        Adds what the judge knows of itself; see `review.knowing.knowledge_of_run`.
    """
    from judgeaudit.review.correcting import corrected_of
    from judgeaudit.review.knowing import knowledge_of_run

    scores = () if labels is None else corrected_of(view, labels)
    facts: dict[str, Any] = {}
    if statements is not None:
        facts["statements"] = read_statements(statements).model_dump(exclude_defaults=True)
    if confidence is not None:
        scores += knowledge_of_run(view, folder, entailment=confidence).scores
    return Added(scores, facts)
