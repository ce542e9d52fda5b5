"""Which column of a table is what: said by the user, or guessed from its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora._sheet import Sheet
from judgeaudit.engine.imported.choices import Choices, flag_of

__all__ = ["Columns", "find_columns"]

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "item": (
        *("item", "itemid", "id", "example", "exampleid", "sample", "sampleid", "case", "caseid"),
        *("testcase", "question", "questionid", "trajectoryid", "taskid", "docid"),
    ),
    "condition": (
        *("condition", "variant", "promptvariant", "rewrite", "rewording", "perturbation"),
        *("policyvariant", "prompt", "promptid", "rubric", "rubricid", "transform"),
    ),
    "wording": ("wording", "wordingid"),
    "repeat": (
        *("repeat", "repeatid", "rep", "run", "runid", "trial", "epoch", "replicate", "k"),
        *("iteration", "attempt", "callindex"),
    ),
    "verdict": (
        *("verdict", "judgelabel", "judgeverdict", "prediction", "predicted", "pred"),
        *("predictedlabel", "judgement", "judgment", "decision", "modellabel", "label"),
    ),
    "outcome": ("outcome",),
    "reply": ("reply", "rawreply", "response", "completion", "rawoutput", "judgeoutput"),
    "gold": (
        *("gold", "goldlabel", "truth", "groundtruth", "humanlabel", "human", "target"),
        *("expected", "expectedlabel", "reference", "referencelabel", "truelabel", "label"),
    ),
    "cluster": ("cluster", "clusterid", "group", "groupid"),
    "ambiguous": ("ambiguous", "isambiguous"),
    "confidence": ("confidence", "judgeconfidence", "statedconfidence"),
}
_MUST: Final = ("item", "condition", "verdict")
_KEPT: Final = ("cluster", "clusterid")
"""Names of clusters; a `group` may as well be a kind of risk."""
_EITHER: Final = "label"
"""A column of this name may hold what the judge said or what is true."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role.

    Parameters
    ----------
    of : mapping of str to str
        Role -> column.
    guessed : frozenset of str
        Roles whose column was guessed from its name.
    """

    of: Mapping[str, str]
    guessed: frozenset[str]

    def words(self) -> str:
        """Say which column was taken for what."""
        parts = [
            f"{role} = {column!r}{' (guessed)' if role in self.guessed else ''}"
            for role, column in self.of.items()
        ]
        return ", ".join(parts)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def find_columns(sheet: Sheet, choices: Choices, *, guess: bool = True) -> Columns:
    """Find the column of each role.

    Parameters
    ----------
    sheet : Sheet
        The table.
    choices : Choices
        What the user named.
    guess : bool
        Whether to look for the roles that are left by their columns' names.

    Raises
    ------
    ConfigError
        If a column that was named is not there, one is given two roles, a role has several
        columns that could be meant, or one that is needed has none.
    """
    there = [c for c in sheet.columns if c]
    given = choices.given
    for role, column in given.items():
        _known(column, there, flag_of(role), sheet)
    taken = _taken(given, choices, there, sheet)
    found = dict(given)
    for role, names in _NAMES.items() if guess else ():
        if role in found or _not_asked(role, choices):
            continue
        close = [c for c in there if _bare(c) in names and c not in taken]
        if _EITHER in names:
            close = _unequivocal(role, close, sheet, found, wide=bool(choices.wide))
        if len(close) > 1:
            raise ConfigError(
                f"the columns {', '.join(map(repr, close))} could each be the {role}",
                where=sheet.place,
                mend=f"Say which: {flag_of(role)} {_quoted(close[0])}",
            )
        if close:
            found[role] = close[0]
            taken[close[0]] = role
    _not_dropped(found, choices, sheet)
    _complete(found, choices, sheet)
    order = {role: found[role] for role in (*_NAMES, "p_unsafe") if role in found}
    return Columns(order, frozenset(found) - frozenset(given))


def _taken(
    given: Mapping[str, str], choices: Choices, there: list[str], sheet: Sheet
) -> dict[str, str]:
    """Return the role of each column that the user named."""
    lists = {"wide": choices.wide, "strata": choices.strata, "rater": choices.rater}
    several = [(role, c) for role, some in lists.items() for c in some]
    for role, column in several:
        _known(column, there, flag_of(role), sheet)
    taken: dict[str, str] = {}
    for role, column in [*given.items(), *several]:
        if role == "strata" and taken.get(column) in {"gold", "cluster"}:
            continue  # figures may be broken down by these, too
        if column in taken:
            raise ConfigError(
                f"the column {column!r} is named for {flag_of(taken[column])} "
                f"and for {flag_of(role)}",
                where=sheet.place,
                mend="A column holds one thing",
            )
        taken[column] = role
    return taken


def _not_dropped(found: Mapping[str, str], choices: Choices, sheet: Sheet) -> None:
    """Refuse a breakdown that would take the true labels or the clusters away unseen."""
    for column in choices.strata:
        for role, names in (("gold", _NAMES["gold"]), ("cluster", _KEPT)):
            if role not in found and _bare(column) in names and _bare(column) != _EITHER:
                raise ConfigError(
                    f"the column {column!r} is named for --strata, and nothing is the {role}",
                    where=sheet.place,
                    mend=f"If it is the {role}, say so, too: {flag_of(role)} {_quoted(column)}; "
                    "if it is not, give the column another name",
                )


def _not_asked(role: str, choices: Choices) -> bool:
    if role == "repeat":
        return choices.count_repeats
    if role == "condition" and choices.one_condition is not None:
        return True
    if role in {"condition", "verdict", "outcome", "reply", "confidence"}:
        return bool(choices.wide)
    return False


def _unequivocal(
    role: str, close: list[str], sheet: Sheet, found: Mapping[str, str], *, wide: bool
) -> list[str]:
    """Decide what a column `label` is, or ask: it names the verdict in one tool, gold in another.

    Beside a column that can only be the verdict it is gold; beside one that can only be gold, or
    beside outcomes, it is the verdict.
    """
    other = "gold" if role == "verdict" else "verdict"
    sure = [c for c in close if _bare(c) != _EITHER]
    if sure or not close:
        return sure
    if role == "verdict" and "reply" in found:
        return []
    elsewhere = [c for c in sheet.columns if _bare(c) in _NAMES[other] and _bare(c) != _EITHER] or (
        [found[other]] if other in found else []
    )
    by_outcome = role == "verdict" and any(_bare(c) == "outcome" for c in sheet.columns)
    if elsewhere or by_outcome:
        return close
    if role == "gold" and (wide or "reply" in found):
        return close
    raise ConfigError(
        f"the column {close[0]!r} may be the judge's verdict or the true label",
        where=sheet.place,
        mend=f"Say which: --verdict {_quoted(close[0])} or --gold {_quoted(close[0])}",
    )


def _complete(found: Mapping[str, str], choices: Choices, sheet: Sheet) -> None:
    for role in _MUST:
        if role in found or (role != "item" and choices.wide):
            continue
        if (role == "verdict" and "reply" in found) or _not_asked(role, choices):
            continue
        hint = f"Name it: {flag_of(role)} COLUMN"
        apart = [s for s in ";\t|" if len(sheet.columns) == 1 and s in sheet.columns[0]]
        if apart:
            named = "tab" if apart[0] == "\t" else f"'{apart[0]}'"
            hint = f"All cells are in one: name what stands between them, --separator {named}"
            raise ConfigError(
                f"there is one column, {sheet.columns[0]!r:.80}", where=sheet.place, mend=hint
            )
        if role == "condition":
            hint += "; --wide COLUMN for each where a column stands for a condition; or "
            hint += "--one-condition base where all rows were asked under one"
        raise ConfigError(
            f"no column is known to be the {role}; "
            f"there are {', '.join(map(repr, [c for c in sheet.columns if c]))}",
            where=sheet.place,
            mend=hint,
        )


def _known(column: str, there: list[str], flag: str, sheet: Sheet) -> None:
    if column in there:
        return
    close = difflib.get_close_matches(column, there, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise ConfigError(
        f"there is no column {column!r} ({flag}){hint} "
        f"There are {', '.join(map(repr, there)) or 'none'}",
        where=sheet.place,
        mend="Name a column of the table",
    )


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else repr(name)
