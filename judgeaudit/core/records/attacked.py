"""What `attack` writes: `attack.json`, a record with its version inside."""

from __future__ import annotations

from typing import Final, Literal

from judgeaudit.core.records._base import Record
from judgeaudit.core.records.run import Rendering

__all__ = ["FILE", "Attack", "Attacks", "Finalist", "Objective", "Step"]

FILE: Final = "attack.json"

Objective = Literal["excess", "tpr", "fpr"]
"""What an attack worsens: more excess flips, fewer true positives, more false positives."""


class Step(Record):
    """One round of calls: so many wordings on so many items."""

    stage: Literal["whole", "mixed", "held_out"]
    wordings: int
    items: int
    repeats: int
    calls: int


class Finalist(Record):
    """A wording that was measured on held-out clusters.

    Parameters
    ----------
    name : str
        "T1T2/3", or "T1T2/3: 5 of 37 edits".
    edits : tuple of str
        Edits that it takes of that rewrite, in words; none where it is the whole.
    rendering : Rendering
        Its text, with the certificate.
    base, wording : float, optional
        The objective's figure on held-out clusters: excess flips, TPR or FPR.
    gain, low, high, level : float, optional
        How much worse the wording makes the judge there, and its interval.
    p_value, p_adjusted : float, optional
        Sign-flip test of no gain; Holm's correction over finalists.
    naive : float, optional
        The same gain on the clusters that it was chosen on: of the best of many, so too large.
    shrinkage : float, optional
        `naive - gain`.
    lost, lost_base : int
        Held-out calls without a verdict, under the wording and under base.
    why : str, optional
        Why a figure is not there.
    """

    name: str
    edits: tuple[str, ...] = ()
    rendering: Rendering
    base: float | None = None
    wording: float | None = None
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    naive: float | None = None
    shrinkage: float | None = None
    items: int = 0
    clusters: int = 0
    lost: int = 0
    lost_base: int = 0
    why: str | None = None


class Attack(Record):
    """How far a wording that says the same can steer a judge.

    Parameters
    ----------
    plan_sha256 : str
        Identity of the run that was attacked.
    calls : int
        The budget.
    planned, asked : int
        Calls at most, and in the ledgers of the rounds.
    tried : int
        Wordings that the worst was chosen among.
    finalists : tuple of Finalist
        As the training clusters rank them; the first is the answer.
    """

    plan_sha256: str
    judge: str
    policy: str
    corpus: str
    objective: Objective
    seed: int
    share: float
    alpha: float
    calls: int
    planned: int
    asked: int
    tried: int
    rejected: int
    n_train: int
    n_train_items: int
    n_held_out: int
    n_held_out_items: int
    steps: tuple[Step, ...]
    finalists: tuple[Finalist, ...]
    folder: str

    @property
    def worst(self) -> Finalist:
        """The wording that the search chose."""
        return self.finalists[0]


class Attacks(Record):
    """All attacks on one run, one an objective."""

    version: Literal[1] = 1
    attacks: tuple[Attack, ...]
