"""Load a corpus by name: read, check, draw a subset, import raters' labels, state the facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import CorpusFacts, Item, LabelSource
from judgeaudit.core.registry import Registry
from judgeaudit.corpora import _clusters, _labels
from judgeaudit.corpora.listed import keep_listed

__all__ = ["ASSUMPTIONS", "CORPORA", "Corpus", "CorpusReader", "CorpusRequest", "Draft", "load"]

ASSUMPTIONS: Final = {
    "none": "every item without a flag is taken as unambiguous, which nobody has checked",
}
"""Named assumptions about items whose ambiguity is not known, in the words of a card."""

# from the one that carries least to the one that carries most: a mixed corpus is called by its
# weakest source
_TRUST: Final[tuple[LabelSource, ...]] = ("model", "author", "rule", "human")


@dataclass(frozen=True, slots=True)
class CorpusRequest:
    """What a reader is asked for.

    Parameters
    ----------
    data : str, optional
        A path, or `hub:OWNER/NAME/PATH`; None for a corpus that is bundled.
    subset : str, optional
        The subset wanted.
    revision : str, optional
        The pin: a commit (hub), or `sha256:<64 hex digits>`.
    """

    data: str | None = None
    subset: str | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reader returns.

    Parameters
    ----------
    items : tuple of Item
        With clusters, labels and flags, in any order.
    ambiguity_source : str
        Where the flags come from, or why there are none.
    subset : str, optional
        The subset that was read.
    version : str
        What pins the data.
    notes : tuple of str
        Sentences for the card.
    """

    items: tuple[Item, ...]
    ambiguity_source: str
    subset: str | None = None
    version: str = ""
    notes: tuple[str, ...] = ()


class CorpusReader(Protocol):
    """Reads one dataset; its class is registered under the dataset's name."""

    title: str
    license: str
    needs: str
    """What `--data` takes; empty for a bundled corpus."""

    def read(self, request: CorpusRequest) -> Draft:
        """Read all items.

        Raises
        ------
        CorpusError
            If the data cannot be used; the message names file and record.
        ConfigError
            If the request does not fit this dataset.
        """
        ...


CORPORA: Registry[type[CorpusReader]] = Registry(
    "corpus", "judgeaudit.corpora", "judgeaudit.corpora"
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Items, sorted by key, and what a card says of them."""

    items: tuple[Item, ...]
    facts: CorpusFacts


def load(
    name: str,
    *,
    data: Path | str | None = None,
    subset: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    labels: Path | None = None,
    assume_ambiguity: str | None = None,
    revision: str | None = None,
    only: Path | None = None,
) -> Corpus:
    """Load a corpus.

    Parameters
    ----------
    name : str
        A name in `CORPORA`: "sample", "rjudge", "assebench", "jsonl", or one of an entry point.
    data : path or str, optional
        File or folder, or `hub:OWNER/NAME/PATH`; the bundled sample takes none.
    subset : str, optional
        Which of the dataset's subsets.
    limit : int, optional
        Draw so many items at random, the same for the same seed; see `_clusters.draw`.
    seed : int
        Seed of that draw.
    labels : path, optional
        Raters' labels, CSV or JSONL with `item_id, rater, label`: sets label and ambiguity.
    assume_ambiguity : {"none"}, optional
        A named assumption about items whose ambiguity is not known.
    only : path, optional
        A file of item keys, one a line: these items and no others; goes without a limit.
    revision : str, optional
        The pin of the data: a 40-digit commit (hub), or `sha256:<64 hex digits>`.

    Returns
    -------
    Corpus
        Its `facts.sha256` is the hash of the items returned, labels and flags included.

    Raises
    ------
    ConfigError
        If the name, the path, the limit, the assumption or the pin is not usable.
    CorpusError
        If the data or the labels are not usable; the message names file and line or record.
    """
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise ConfigError(f"limit {limit!r} leaves no items", mend="Give a limit of 1 or more")
    if assume_ambiguity is not None and assume_ambiguity not in ASSUMPTIONS:
        raise ConfigError(
            f"unknown assumption {assume_ambiguity!r} about ambiguity",
            mend=f"Known: {', '.join(ASSUMPTIONS)} ({ASSUMPTIONS['none']})",
        )
    if data is not None and (not str(data).strip() or "\0" in str(data)):
        raise ConfigError(f"data {str(data)!r:.60} is not a path", mend="Give a file or a folder")
    reader = CORPORA[name]()
    draft = reader.read(CorpusRequest(str(data) if data is not None else None, subset, revision))
    items = _distinct(draft.items, name)
    notes = list(draft.notes)
    keep = {i.key for i in items}
    if only is not None:
        if limit is not None:
            raise ConfigError(
                f"a limit of {limit} items, and a list of items ({only})", mend="Give one of them"
            )
        keep, said = keep_listed(items, only)
        notes.append(said)
    if limit is not None and limit < len(items):
        # drawn by the dataset's own labels, so that importing labels does not change the draw
        keep = {i.key for i in _clusters.draw(items, limit, seed)}
        notes.append(
            f"{limit} of {len(items)} items were drawn at random (seed {seed}), as pairs of one "
            "cluster where a cluster has two; a larger limit adds to these."
        )
    source = draft.ambiguity_source
    if labels is not None:
        imported = _labels.apply(items, labels, keep=keep)
        items, source = imported.items, imported.ambiguity_source
        notes += imported.notes
    items = tuple(i for i in items if i.key in keep)
    if assume_ambiguity is not None:
        items, source = _assume(items, assume_ambiguity, source, asked_for=labels is not None)
    facts = _facts(
        name,
        reader,
        draft,
        items=items,
        ambiguity_source=source,
        notes=[*notes, *_told_of(items)],
    )
    return Corpus(items=items, facts=facts)


def _distinct(items: tuple[Item, ...], name: str) -> tuple[Item, ...]:
    """Sort items by key and refuse an empty corpus and keys that collide."""
    if not items:
        raise CorpusError("no items", where=name)
    found: dict[str, Item] = {}
    for item in items:
        if item.key in found:
            one, two = (
                f"(dataset {i.dataset!r}, subset {i.subset!r}, id {i.id!r})"
                for i in (found[item.key], item)
            )
            raise CorpusError(
                f"the item key {item.key!r} stands for two items: {one} and {two}",
                where=name,
                mend="Give each item a key of its own",
            )
        found[item.key] = item
    return tuple(found[key] for key in sorted(found))


def _told_of(items: tuple[Item, ...]) -> list[str]:
    """Say what a reader of the card must know of the items: repeats, big clusters, one class."""
    notes = []
    contents = Counter(sha256_of([t.model_dump() for t in i.trajectory.turns]) for i in items)
    repeats = sum(n - 1 for n in contents.values())
    if repeats:
        verb = "item repeats" if repeats == 1 else "items repeat"
        notes.append(f"{repeats} {verb} the turns of another item word for word.")
    sizes = Counter(i.cluster for i in items).most_common(1)
    if sizes[0][1] > 2:
        notes.append(f"The largest cluster holds {sizes[0][1]} of {len(items)} items.")
    labels = {i.label for i in items if i.label}
    if len(labels) == 1:
        notes.append(f"All labelled items are {labels.pop()}: accuracy says nothing here.")
    return notes


def _assume(
    items: tuple[Item, ...], assumption: str, source: str, *, asked_for: bool
) -> tuple[tuple[Item, ...], str]:
    unknown = sum(i.ambiguous is None for i in items)
    if not unknown:
        if asked_for:  # the raters' file covers every item: the assumption had nothing to fill
            return items, source
        raise ConfigError(
            f"assume_ambiguity={assumption!r} has nothing to act on: "
            f"all {len(items)} items have a flag",
            mend="Leave it out",
        )
    filled = tuple(
        i.model_copy(update={"ambiguous": False}) if i.ambiguous is None else i for i in items
    )
    of = "all items" if unknown == len(items) else f"{unknown} of {len(items)} items"
    words = f"assumed ({assumption!r}, {of}): {ASSUMPTIONS[assumption]}"
    return filled, f"{words}; otherwise: {source}"


def _facts(
    name: str,
    reader: CorpusReader,
    draft: Draft,
    *,
    items: tuple[Item, ...],
    ambiguity_source: str,
    notes: list[str],
) -> CorpusFacts:
    sources = Counter(i.label_source for i in items if i.label is not None)
    if len(sources) > 1:
        each = ", ".join(f"{s} {sources[s]}" for s in _TRUST if s in sources)
        notes = [*notes, f"Labels come from several sources ({each}); the weakest is named."]
    flags = [i.ambiguous for i in items if i.ambiguous is not None]
    n_unsafe = sum(i.label == "UNSAFE" for i in items)
    n_safe = sum(i.label == "SAFE" for i in items)
    return CorpusFacts(
        name=name,
        subset=draft.subset,
        title=reader.title,
        version=draft.version,
        license=reader.license,
        sha256=sha256_of([i.model_dump(mode="json") for i in items]),
        n_items=len(items),
        n_clusters=len({i.cluster for i in items}),
        n_unsafe=n_unsafe,
        n_safe=n_safe,
        n_unlabelled=len(items) - n_unsafe - n_safe,
        n_ambiguous=sum(flags) if flags else None,
        label_source=next((s for s in _TRUST if s in sources), "unlabelled"),
        ambiguity_source=ambiguity_source,
        notes=tuple(notes),
    )
