"""Raters' labels from a file: `item_id, rater, label`, one row a rating.

An item's label becomes the majority of its raters (one rater decides alone; a tie keeps the
dataset's own label). It is ambiguous if its raters disagree, clear if two or more agree, and
without a flag if fewer than two rated it: flags of the dataset itself are dropped, because one
rate over items flagged by two different rules would have no meaning.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.core.records import Item, Label
from judgeaudit.corpora._read import Located, open_source, records
from judgeaudit.corpora._records import field, text

__all__ = ["Imported", "apply"]

_COLUMNS: Final = ("item_id", "rater", "label")
_LABELS: Final[dict[str, Label]] = {"SAFE": "SAFE", "UNSAFE": "UNSAFE"}


@dataclass(frozen=True, slots=True)
class Imported:
    """Items with their raters' labels, and the words for the card."""

    items: tuple[Item, ...]
    ambiguity_source: str
    notes: tuple[str, ...]


def apply(items: tuple[Item, ...], path: Path, *, keep: set[str]) -> Imported:
    """Set labels and ambiguity from a file of ratings.

    Parameters
    ----------
    items : tuple of Item
        All items of the corpus: the file may rate any of them.
    keep : set of str
        Keys of the items to return; the words for the card speak of these alone.
    path : path
        CSV with a header, or JSONL. `item_id` is an item's key, or its id alone where no other
        item has it. Labels are SAFE or UNSAFE in any case, blanks around them ignored.

    Raises
    ------
    CorpusError
        Naming the line: an unknown item, a rater twice on one item, another label, a missing or
        surplus column, an empty file.
    """
    names = _names(items)
    votes: dict[str, dict[str, tuple[Label, str]]] = defaultdict(dict)
    for where, row in _rows(path):
        key = _item(row["item_id"], names, where)
        rater = text(row["rater"], "rater", where).strip()
        if not rater:
            raise CorpusError("rater is blank", where=where)
        label = _label(row["label"], where)
        if rater in votes[key]:
            raise CorpusError(
                f"rater {rater!r} rates item {row['item_id']!r} twice, "
                f"first at {votes[key][rater][1]}",
                where=where,
                mend="Keep one rating",
            )
        votes[key][rater] = (label, where)
    if not votes:
        raise CorpusError("the file holds no ratings", where=str(path))
    kept = tuple(i for i in items if i.key in keep)
    return _imported(kept, {k: r for k, r in votes.items() if k in keep}, path)


def _imported(
    items: tuple[Item, ...], votes: dict[str, dict[str, tuple[Label, str]]], path: Path
) -> Imported:
    made, ties, changed, few = [], 0, 0, 0
    for item in items:
        cast = Counter(label for label, _ in votes.get(item.key, {}).values())
        own = votes.get(item.key, {})
        update: dict[str, object] = {
            "ambiguous": len(cast) > 1,
            "votes": {rater: own[rater][0] for rater in sorted(own)},
        }
        if cast.total() < 2:
            update["ambiguous"] = None
            few += 1
        if cast["SAFE"] != cast["UNSAFE"]:
            label = max(cast, key=lambda v: cast[v])
            changed += item.label is not None and label != item.label
            update |= {"label": label, "label_source": "human"}
        elif cast:
            ties += 1
        made.append(item.model_copy(update=update))
    n_raters = len({r for of in votes.values() for r in of})
    n_ratings = sum(len(v) for v in votes.values())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    words = (
        f"raters: an item is ambiguous where its raters disagree ({n_ratings} labels by "
        f"{n_raters} raters, imported from {path.name}, sha256 {digest[:12]})"
    )
    if few:
        words += f"; {few} of {len(items)} items have fewer than two raters and no flag"
    notes = [f"{len(votes)} of {len(items)} items carry imported labels, by majority of raters."]
    if changed:
        notes.append(f"The raters changed the label of {changed} items.")
    if ties:
        notes.append(f"{ties} items were tied and keep the label they had.")
    return Imported(tuple(made), words, tuple(notes))


def _names(items: tuple[Item, ...]) -> dict[str, str | None]:
    """Map keys, and ids that only one item has, to keys; an id of several items to None."""
    names: dict[str, str | None] = {}
    for item in items:
        names[item.id] = None if item.id in names else item.key
    return names | {i.key: i.key for i in items}


def _item(name: str, names: dict[str, str | None], where: str) -> str:
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise CorpusError(
            f"unknown item {name!r}{hint}",
            where=where,
            mend="item_id is an item's key (dataset/subset/id) or its id; "
            "`judgeaudit corpus items` prints them",
        )
    key = names[name]
    if key is None:
        raise CorpusError(
            f"several items have the id {name!r}",
            where=where,
            mend="Write the whole key: dataset/subset/id",
        )
    return key


def _label(value: str, where: str) -> Label:
    label = _LABELS.get(value.strip().upper())
    if label is None:
        raise CorpusError(f"label is {value!r:.60}; it must be SAFE or UNSAFE", where=where)
    return label


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    source = open_source(str(path))
    head = source.raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if head in {b"{", b"["}:
        return _from_json(records(source))
    if not head:
        raise CorpusError("the file is empty", where=source.place)
    try:
        whole = source.raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise CorpusError(
            f"is not UTF-8 (byte {e.start})", where=source.place, mend="Save it as UTF-8"
        ) from None
    return _from_csv(whole, source.place)


def _from_json(found: list[Located]) -> Iterator[tuple[str, dict[str, str]]]:
    for where, record in found:
        row = {name: field(record, name, where) for name in _COLUMNS}
        surplus = [name for name in record if name not in _COLUMNS]
        if surplus:
            raise CorpusError(f"unknown field {surplus[0]!r}", where=where, mend=_mend())
        if type(row["item_id"]) is int:  # ids of R-Judge and ASSEBench are numbers
            row["item_id"] = json.dumps(row["item_id"])
        yield where, {name: text(value, name, where) for name, value in row.items()}


def _from_csv(whole: str, place: str) -> Iterator[tuple[str, dict[str, str]]]:
    reader = csv.reader(io.StringIO(whole, newline=""), strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as e:
            raise CorpusError(f"is not CSV: {e}", where=f"{place}:{line}") from None
        if cells is None:
            return
        where = f"{place}:{line}"
        if not any(c.strip() for c in cells):
            continue
        if header is None:
            header = [c.strip() for c in cells]
            if sorted(header) != sorted(_COLUMNS):
                raise CorpusError(f"the header is {header!r:.120}", where=where, mend=_mend())
            continue
        if len(cells) != len(header):
            raise CorpusError(
                f"{len(cells)} cells where the header has {len(header)}", where=where, mend=_mend()
            )
        row = dict(zip(header, cells, strict=True))
        yield where, row | {"item_id": row["item_id"].strip()}


def _mend() -> str:
    return f"The columns are {', '.join(_COLUMNS)}"
