"""Trajectories that are too long for a judge: how long they are, and the middle left out.

What is left out depends on the trajectory and the limit alone, so it is the same under every
condition and repeat: effects of wording stay paired. See `docs/decisions/0815-too-long.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from judgeaudit.core.records import Role, Trajectory, Turn
from judgeaudit.policy.prompts import NO_TEXT, trajectory_text

__all__ = ["MARK", "middle_out", "text_tokens", "trajectory_tokens"]

MARK = (
    "[LEFT OUT HERE BY JUDGEAUDIT: {characters} characters of {where}, for the record is longer "
    "than the judge takes. Turns below are numbered on from here.]"
)
"""What stands for the middle of a trajectory."""

_CHARACTERS = 4
_FENCE = "[00000000]"
_FIELDS = ("thought", "action", "content")


@dataclass(frozen=True, slots=True)
class _Piece:
    """One text of a trajectory; number 0 is the profile."""

    number: int
    role: Role
    field: str
    text: str

    @property
    def cost(self) -> int:
        return len(self.text) + len(f"{_FENCE} turn {self.number}, {self.role}, {self.field}:\n\n")


def text_tokens(text: str) -> int:
    """Estimate tokens as a quarter of the characters, rounded up, as plans do."""
    return -(-len(text) // _CHARACTERS)


def trajectory_tokens(trajectory: Trajectory) -> int:
    """Estimate the tokens of a trajectory as it is written out for a judge."""
    return text_tokens(trajectory_text(trajectory, _FENCE))


def middle_out(trajectory: Trajectory, most: int) -> Trajectory:
    """Leave out the middle of a trajectory, and say there how much that is.

    Parameters
    ----------
    trajectory : Trajectory
        One of any length; what fits is returned as it is.
    most : int
        Tokens that it may have, in the estimate of `trajectory_tokens`.

    Returns
    -------
    Trajectory
        Its beginning and its end in equal parts, cut inside of a text where need be, with one mark
        between them.
    """
    if trajectory_tokens(trajectory) <= most:
        return trajectory
    pieces = _pieces(trajectory)
    room = most * _CHARACTERS - len(MARK) - 120
    while True:
        made = _cut(pieces, max(room, 0) // 2)
        over = trajectory_tokens(made) - most
        if over <= 0 or room <= 0:
            return made
        room -= over * _CHARACTERS


def _pieces(trajectory: Trajectory) -> list[_Piece]:
    out = []
    if trajectory.profile is not None and trajectory.profile.strip():
        out.append(_Piece(0, "system", "profile", trajectory.profile))
    for number, turn in enumerate(trajectory.turns, start=1):
        said = [(f, t) for f in _FIELDS if (t := getattr(turn, f)) is not None and t.strip()]
        # a turn without a text stays a turn
        said = said or [("content", NO_TEXT)]
        out += [_Piece(number, turn.role, field, text) for field, text in said]
    return out


def _cut(pieces: list[_Piece], half: int) -> Trajectory:
    n_head, head_rest = _taken(pieces, half)
    n_tail, tail_rest = _taken(pieces[::-1], half)
    first, last = n_head, len(pieces) - 1 - n_tail  # the pieces that are cut, or left out
    if first > last:  # all fits but for what the mark takes
        first = last = min(first, len(pieces) - 1)
    begins, ends = pieces[first], pieces[last]
    head = begins.text[:head_rest]
    tail = ends.text[len(ends.text) - tail_rest :] if tail_rest else ""
    gone = sum(len(p.text) for p in pieces[first : last + 1]) - len(head) - len(tail)
    mark = MARK.format(characters=f"{gone:,}", where=_where(begins.number, ends.number))
    kept = list(pieces[:first])
    if first == last:
        kept.append(_with(begins, "\n".join(t for t in (head, mark, tail) if t)))
    else:
        kept.append(_with(begins, "\n".join(t for t in (head, mark) if t)))
        if tail:
            kept.append(_with(ends, tail))
    return _joined([*kept, *pieces[last + 1 :]])


def _taken(pieces: list[_Piece], room: int) -> tuple[int, int]:
    """Return how many pieces fit whole, and how much of the next one does."""
    for n, piece in enumerate(pieces):
        if piece.cost > room:
            return n, max(0, room - (piece.cost - len(piece.text)))
        room -= piece.cost
    return len(pieces), 0


def _where(first: int, last: int) -> str:
    begins = f"turn {first}" if first else "the profile"
    return begins if first == last else f"{begins} to turn {last}"


def _with(piece: _Piece, text: str) -> _Piece:
    return _Piece(piece.number, piece.role, piece.field, text)


def _joined(pieces: list[_Piece]) -> Trajectory:
    turns: dict[int, dict[str, str]] = {}
    roles: dict[int, Role] = {}
    for p in pieces:
        turns.setdefault(p.number, {})[p.field] = p.text
        roles[p.number] = p.role
    profile = turns.pop(0, {}).get("profile")
    return Trajectory(
        profile=profile, turns=tuple(Turn(role=roles[n], **texts) for n, texts in turns.items())
    )
