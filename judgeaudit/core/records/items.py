"""Items: labelled trajectories. What a judge may see is a type of its own."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from judgeaudit.core.records._base import Label, Record

__all__ = ["Item", "LabelSource", "Role", "Trajectory", "Turn"]

Role = Literal["system", "user", "agent", "environment"]

LabelSource = Literal["human", "author", "model", "rule", "unknown", "unlabelled"]
"""Who assigned the labels. `author`: who wrote the trajectories; `unknown`: nobody said."""


class Turn(Record):
    """One turn of a trajectory; agent turns have thought and action, others have content.

    Null and blank texts are valid: real datasets hold both.
    """

    role: Role
    content: str | None = None
    thought: str | None = None
    action: str | None = None


class Trajectory(Record):
    """All that a judge may see of an item. No field of it may reveal the label."""

    profile: str | None = None
    turns: tuple[Turn, ...]

    @property
    def words(self) -> str:
        """All its texts in order, a line each, without a word of ours."""
        said = [t for turn in self.turns for t in (turn.content, turn.thought, turn.action)]
        return "\n".join(t for t in (self.profile, *said) if t)


class Item(Record):
    """One labelled agent trajectory.

    Parameters
    ----------
    dataset, subset, id : str
        Together the key; ids of different datasets overlap, so the id alone is not one.
    cluster : str
        Items that share a source share a cluster: the unit of resampling.
    label : {"SAFE", "UNSAFE"}, optional
        The gold label; None for unlabelled items.
    ambiguous : bool, optional
        Whether raters disagreed (or experts flagged the item as borderline). None: not known.
    strata : dict of str to str
        Gold descriptors (category, risk type) to break figures down by; never shown to a judge.
    votes : dict of str to {"SAFE", "UNSAFE"}
        What each rater said, by rater; empty where only a label is known.
    """

    dataset: str
    subset: str
    id: str
    cluster: str
    trajectory: Trajectory
    label: Label | None = None
    label_source: LabelSource = "unlabelled"
    ambiguous: bool | None = None
    strata: dict[str, str] = Field(default_factory=dict)
    votes: dict[str, Label] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_no_votes(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave empty votes out: the hash of items that never had any stays what it was."""
        made: dict[str, Any] = handler(self)
        if not made.get("votes"):
            made.pop("votes", None)
        return made

    @property
    def key(self) -> str:
        """The item's key as one string, `dataset/subset/id`."""
        return f"{self.dataset}/{self.subset}/{self.id}"
