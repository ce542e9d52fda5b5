"""A table of verdicts, row by row: every call once, under a condition that is known."""

from __future__ import annotations

from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError, unknown_name
from judgeaudit.core.records import Label, Reply, Verdict
from judgeaudit.corpora._sheet import Sheet
from judgeaudit.engine.imported.choices import NONE, SKIP, Choices
from judgeaudit.engine.imported.columns import Columns
from judgeaudit.engine.imported.rows import (
    SILENT,
    ItemFacts,
    RawRow,
    Read,
    counted,
    put_in_category,
    targets_of,
    verdict_of,
)
from judgeaudit.engine.imported.values import (
    flag,
    is_blank,
    name_of,
    number,
    score,
    share,
    stripped,
    text_of,
)
from judgeaudit.engine.imported.words import Words
from judgeaudit.judges.parsing import parse

__all__ = ["read_rows"]

_NAMED: Final = 12
_LABELS: Final[dict[str, Label]] = {"SAFE": "SAFE", "UNSAFE": "UNSAFE"}


class _Reader:
    """Reads the rows of one sheet."""

    def __init__(self, sheet: Sheet, columns: Columns, choices: Choices, known: list[str]) -> None:
        self._sheet, self._choices, self._known = sheet, choices, known
        at = {c: k for k, c in enumerate(sheet.columns)}
        self._at: dict[str, int] = {role: at[c] for role, c in columns.of.items()}
        self._wide = [(c, at[c]) for c in choices.wide]
        self._strata = [(c, at[c]) for c in choices.strata]
        self._raters = [(c, at[c]) for c in choices.rater]
        self._map = targets_of(choices)
        self._drop = set(choices.drop)
        self._used: set[str] = set()
        self._seen: dict[tuple[str, str, int, int], tuple[int, str, str]] = {}
        self._counts: dict[tuple[str, str, int], int] = {}
        self._left: dict[str, int] = {}
        self._odd: list[str] = []
        self._n_odd = 0
        self._n_scores = 0
        self._words = Words(choices, sheet.place)
        self._raw: list[RawRow] = []
        self.out = Read()

    def read(self) -> Read:
        """Read all rows.

        Raises
        ------
        CorpusError, ConfigError
            Naming file and line.
        """
        for n, cells in enumerate(self._sheet.rows):
            if self._wide:
                self._wide_row(n, cells)
            else:
                self._long_row(n, cells)
        unused = [c for c in (*self._map, *self._drop) if c not in self._used]
        if unused:
            raise ConfigError(
                f"--map or --drop names the condition {unused[0]!r}, which is not in the table",
                where=self._sheet.place,
                mend=f"There are: {', '.join(sorted(self.out.names)) or 'none'}",
            )
        if not self._raw:
            raise CorpusError("no row is left to import", where=self._sheet.place)
        unseen = self._words.check(gold="gold" in self._at or bool(self._raters))
        self.out.notes.extend(unseen)
        self.out.rows = counted(self._raw)
        self._tell()
        return self.out

    def _tell(self) -> None:
        for why, n in self._left.items():
            self.out.notes.append(f"{n} {'row was' if n == 1 else 'rows were'} left out: {why}.")
        if self._n_scores:
            self.out.notes.append(
                f"{self._n_scores} verdicts are scores: UNSAFE {self._choices.cut}, else SAFE."
            )
        if self._n_odd:
            more = ", and more" if self._n_odd > len(self._odd) else ""
            self.out.notes.append(
                f"{self._n_odd} stated confidences are no numbers from 0 to 1 and count as not "
                f"stated: {'; '.join(self._odd)}{more}."
            )

    # -- one row ----------------------------------------------------------------------------

    def _cell(self, cells: tuple[Any, ...], role: str) -> Any:
        at = self._at.get(role)
        return None if at is None else cells[at]

    def _long_row(self, n: int, cells: tuple[Any, ...]) -> None:
        where = self._sheet.where(n)
        name = self._choices.one_condition or name_of(
            stripped(self._cell(cells, "condition")), "condition", where
        )
        target = self._condition(name, where)
        if target is None:
            return
        item = self._item(n, cells, where)
        condition, wording = target
        if "wording" in self._at:
            wording = number(self._cell(cells, "wording"), "wording", where)
        verdict, reply = self._ended(n, cells, where)
        if verdict is None:
            return
        key = item, condition, wording
        if self._choices.count_repeats:
            repeat = self._counts.get(key, 0)
            self._counts[key] = repeat + 1
        elif "repeat" in self._at:
            repeat = number(self._cell(cells, "repeat"), "repeat", where)
        else:
            repeat = 0
        self._add(n, (*key, repeat), name, reply, verdict)

    def _wide_row(self, n: int, cells: tuple[Any, ...]) -> None:
        where = self._sheet.where(n)
        item = self._item(n, cells, where)
        first = self._sheet.at(self.out.items[item].row)
        start = 0
        if "repeat" in self._at:
            start = number(self._cell(cells, "repeat"), "repeat", where)
        elif self.out.items[item].row != n and not self._choices.count_repeats:
            raise CorpusError(
                f"item {item!r} has a second row, the first is {first}",
                where=where,
                mend="Name the column that counts repeats (--repeat COLUMN), or say "
                "--count-repeats if each row is one",
            )
        used: dict[tuple[str, int], int] = {}
        for column, at in self._wide:
            target = self._condition(column, where)
            if target is None:
                continue
            # several columns of one condition are its repeats, in the order in which they are named
            order = used.get(target, 0)
            used[target] = order + 1
            value = cells[at]
            if is_blank(value):
                verdict = self._blank(f"the verdict in {column!r}", where)
            else:
                verdict = self._labelled(value, f"the verdict in {column!r}", where)
            if verdict is None:
                continue
            key = (item, *target)
            if self._choices.count_repeats:
                repeat = self._counts.get(key, 0)
                self._counts[key] = repeat + 1
            else:
                repeat = start * len(self._wide) + order
            self._add(n, (*key, repeat), column, SILENT, verdict)

    def _condition(self, name: str, where: str) -> tuple[str, int] | None:
        self._used.add(name)
        if name in self._drop:
            self._left_out(f"condition {name}, by --drop")
            return None
        target = self._map.get(name, (name, 0))
        if target[0] not in self._known:
            meant = f"{name!r:.60} is said to be {target[0]!r}: " if name in self._map else ""
            raise CorpusError(
                f"{meant}{unknown_name('condition', target[0], self._known)}",
                where=where,
                mend=f"Say which it is, as in --map '{name[:40]}=T2', or leave it out with --drop",
            )
        self.out.names[name] = target[0] if not target[1] else f"{target[0]}/{target[1]}"
        return target

    def _item(self, n: int, cells: tuple[Any, ...], where: str) -> str:
        value = self._cell(cells, "item")
        item = name_of(value, "item", where)
        found = self.out.items.get(item)
        if found is None:
            found = self.out.items[item] = ItemFacts(type(value), n)
        elif found.kind is not type(value):
            raise CorpusError(
                f"the id {value!r:.60} here and {item!r:.60} as another type in "
                f"{self._sheet.at(found.row)} would be one item",
                where=where,
                mend="Write all ids as texts, or all as numbers",
            )
        if "gold" in self._at:
            self._agree(found, "gold", self._gold(cells, where), n, item)
        if "cluster" in self._at:
            cluster = name_of(stripped(self._cell(cells, "cluster")), "cluster", where)
            self._agree(found, "cluster", cluster, n, item)
        if "ambiguous" in self._at:
            known = flag(self._cell(cells, "ambiguous"), "ambiguous", where)
            self._agree(found, "ambiguous", known, n, item)
        for column, at in self._strata:
            put_in_category(found, column, cells[at], n, self._sheet)
        for rater, at in self._raters:
            vote = self._label(cells[at], f"the label of rater {rater!r}", where)
            self._agree(found, "votes", vote, n, item, rater=rater)
        return item

    def _gold(self, cells: tuple[Any, ...], where: str) -> Label | None:
        return self._label(self._cell(cells, "gold"), "the gold label", where)

    def _label(self, value: object, role: str, where: str) -> Label | None:
        if is_blank(value):
            return None
        label = self._words.gold(value, role, where)
        if label == NONE:
            return None
        if label in _LABELS:
            return _LABELS[label]
        raise CorpusError(
            f"{role} is {value!r:.60}, an outcome and no label",
            where=where,
            mend="Leave the cell empty where the truth is not known, or say --gold-label WORD=none",
        )

    def _agree(
        self, item: ItemFacts, role: str, value: Any, n: int, name: str, *, rater: str = ""
    ) -> None:
        before = item.votes.get(rater) if rater else getattr(item, role)
        if before is None and rater:
            item.votes[rater] = value, n
        elif before is None:
            setattr(item, role, (value, n))
        elif before[0] != value:
            role = f"rater {rater!r}:" if rater else role
            raise CorpusError(
                f"item {name!r:.60} has {role} {value} here and {before[0]} in "
                f"{self._sheet.at(before[1])}",
                where=self._sheet.where(n),
                mend="An item has one; correct the table",
            )

    def _reply(self, n: int, cells: tuple[Any, ...], where: str) -> Reply:
        answer = self._cell(cells, "reply")
        if self._choices.cut is not None and "reply" not in self._at:
            # the score is what the judge said
            answer = None if is_blank(said := self._cell(cells, "verdict")) else text_of(said)
        if answer is not None and not isinstance(answer, str):
            raise CorpusError(f"the reply is {answer!r:.60}, not a text", where=where)
        reply = SILENT if answer is None else Reply(text=answer, attempts=0)
        p = self._share(n, cells, "p_unsafe", where)
        if p is None:
            return reply
        return reply.model_copy(update={"p_unsafe": p, "p_source": self._choices.p_source})

    def _ended(self, n: int, cells: tuple[Any, ...], where: str) -> tuple[Verdict | None, Reply]:
        reply = self._reply(n, cells, where)
        value, stated = self._cell(cells, "verdict"), self._cell(cells, "outcome")
        ended = not is_blank(stated) and text_of(stated).casefold() != "verdict"
        if "verdict" not in self._at and not ended:
            verdict: Verdict | None = parse(reply)
        elif ended:
            verdict = self._labelled(stated, "the outcome", where)
            if verdict is not None and verdict.outcome == "verdict":
                raise CorpusError(
                    f"the outcome is {stated!r:.60}, a label",
                    where=where,
                    mend="Name its column with --verdict",
                )
            if not is_blank(value):
                raise CorpusError(
                    f"the outcome is {stated!r:.60}, and yet there is a verdict {value!r:.60}",
                    where=where,
                    mend="A label stands exactly where the outcome is 'verdict'",
                )
        elif is_blank(value):
            verdict = self._blank("the verdict", where)
        else:
            verdict = self._labelled(value, "the verdict", where)
        if verdict is None:
            return None, reply
        sure = self._share(n, cells, "confidence", where)
        if sure is not None and verdict.outcome == "verdict":
            verdict = verdict.model_copy(update={"confidence": sure})
        return verdict, reply

    def _labelled(self, value: object, role: str, where: str) -> Verdict | None:
        if self._words.scores(value):
            self._n_scores += 1
            return verdict_of(self._choices.judged(score(value, role, where)))
        meaning = self._words.said(value, role, where)
        if meaning == SKIP:
            self._left_out(f"{role} is {text_of(value):.40}, by --label")
            return None
        return verdict_of(meaning)

    def _blank(self, role: str, where: str) -> Verdict | None:
        meaning = self._choices.blank
        if meaning is None:
            raise CorpusError(
                f"{role} is empty",
                where=where,
                mend="Say what an empty one means: --blank unparseable (or refusal, truncated, "
                "error), or --blank skip to leave such rows out",
            )
        if meaning == SKIP:
            self._left_out("an empty verdict, by --blank skip")
            return None
        return verdict_of(meaning)

    def _share(self, n: int, cells: tuple[Any, ...], role: str, where: str) -> float | None:
        found = share(self._cell(cells, role), percent=self._choices.percent)
        if not isinstance(found, str):
            return found
        if role == "confidence" and self._choices.unknown_confidence:
            self._n_odd += 1
            if len(self._odd) < _NAMED:
                self._odd.append(f"{self._sheet.at(n)}: {found}")
            return None
        more = ", or count such ones as not stated: --unknown-confidence"
        raise CorpusError(
            f"{role} {found}",
            where=where,
            mend=f"Correct it{more if role == 'confidence' else ''}",
        )

    # -- all rows ---------------------------------------------------------------------------

    def _left_out(self, why: str) -> None:
        self._left[why] = self._left.get(why, 0) + 1

    def _add(
        self,
        n: int,
        key: tuple[str, str, int, int],
        name: str,
        reply: Reply,
        verdict: Verdict,
    ) -> None:
        said = verdict.label or verdict.outcome
        before = self._seen.get(key)
        if before is None:
            self._seen[key] = n, said, name
            self._raw.append((*key, reply, verdict))
            return
        row, other, called = before
        if other == said and called == name and self._choices.drop_identical:
            self._left_out("they say again what an earlier row says, by --drop-identical")
            return
        item, condition, _, repeat = key
        same = "both" if other == said else "with different verdicts:"
        what = said if other == said else f"{other} and {said}"
        mend = "Keep one of them"
        if called != name:
            mend = f"{called!r} and {name!r} are both {condition}: tell them apart as wordings, "
            mend += f"as in --map '{name[:40]}={condition}/1'"
        elif "repeat" not in self._at and not self._choices.count_repeats:
            mend = "Name the column that counts repeats (--repeat COLUMN), or say --count-repeats "
            mend += "if each row is one"
        elif other == said:
            mend += ", or say --drop-identical"
        raise CorpusError(
            f"item {item!r:.60}, condition {condition}, repeat {repeat} stands twice, in "
            f"{self._sheet.at(row)} and {self._sheet.at(n)}, {same} {what}",
            where=self._sheet.where(n),
            mend=mend,
        )


def read_rows(sheet: Sheet, columns: Columns, choices: Choices, known: list[str]) -> Read:
    """Read a table of verdicts.

    Parameters
    ----------
    sheet : Sheet
        The table.
    columns : Columns
        The column of each role.
    choices : Choices
        What its words mean.
    known : list of str
        Ids of the conditions there are.

    Raises
    ------
    CorpusError, ConfigError
        At the first row that is not right; the message names file and line, and what would mend
        it.
    """
    return _Reader(sheet, columns, choices, known).read()
