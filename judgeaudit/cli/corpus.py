"""`corpus list`, `show`, `items`, `check`, `surface`, `convert`: a dataset before it is judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import converting

if TYPE_CHECKING:
    from judgeaudit.core.records import CorpusFacts, Item
    from judgeaudit.corpora import Corpus, CorpusReader
    from judgeaudit.corpora._surface import Told

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)
converting.add_to(app)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="A name that `corpus list` prints.")]
_Data = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="File or folder, or hub:OWNER/NAME/PATH with --revision."),
]
_Subset = Annotated[str | None, typer.Option(help="Which of the dataset's subsets.")]
_Limit = Annotated[int | None, typer.Option(help="So many items, drawn at random by --seed.")]
_Seed = Annotated[int, typer.Option(help="Seed of that draw.")]
_Labels = Annotated[
    Path | None, typer.Option(help="Raters' labels, CSV or JSONL: item_id, rater, label.")
]
_Assume = Annotated[
    str | None,
    typer.Option(help="Named assumption where the ambiguity of items is not known (none)."),
]
_Revision = Annotated[
    str | None, typer.Option(help="Pin: a 40-digit commit (hub), or sha256:<64 hex digits>.")
]


@app.command("list")
def list_() -> None:
    """List the corpora and what each needs."""
    from judgeaudit.corpora import CORPORA

    for name in CORPORA:
        reader = CORPORA[name]()
        needs = f"--data: {reader.needs}" if reader.needs else "bundled: needs no --data"
        print(f"{name}: {reader.title}")
        print(f"    {needs}")
        if reader.license:
            print(f"    licence: {reader.license}")


@app.command()
def show(
    name: _Name,
    *,
    data: _Data = None,
    subset: _Subset = None,
    limit: _Limit = None,
    seed: _Seed = 0,
    labels: _Labels = None,
    assume_ambiguity: _Assume = None,
    revision: _Revision = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")] = False,
) -> None:
    """Say what a corpus is; with its data, also how many items, clusters, labels and flags."""
    from judgeaudit.corpora import CORPORA, load

    reader = CORPORA[name]
    if data is None and reader.needs and not as_json:
        _describe(reader)
        return
    corpus = load(
        name,
        data=data,
        subset=subset,
        limit=limit,
        seed=seed,
        labels=labels,
        assume_ambiguity=assume_ambiguity,
        revision=revision,
    )
    if as_json:
        print(corpus.facts.model_dump_json(indent=2))
        return
    for word, value in [*_facts(corpus.facts), *_strata(corpus)]:
        print(f"{_line(word):<16}{_line(value)}")


@app.command()
def items(
    name: _Name,
    *,
    data: _Data = None,
    subset: _Subset = None,
    limit: _Limit = None,
    seed: _Seed = 0,
    labels: _Labels = None,
    revision: _Revision = None,
    full: Annotated[bool, typer.Option("--full", help="Print the whole trajectories.")] = False,
) -> None:
    """Print items, one line each; control characters are shown as escapes."""
    from judgeaudit.corpora import load

    corpus = load(
        name, data=data, subset=subset, limit=limit, seed=seed, labels=labels, revision=revision
    )
    for item in corpus.items:
        print(_head(item))
        if full:
            _print_turns(item)


@app.command()
def check(
    name: _Name,
    *,
    data: _Data = None,
    subset: _Subset = None,
    labels: _Labels = None,
    assume_ambiguity: _Assume = None,
    revision: _Revision = None,
) -> None:
    """Load a corpus, and its raters' labels, and say that it is fit to be judged (else exit 2)."""
    from judgeaudit.corpora import load

    corpus = load(
        name,
        data=data,
        subset=subset,
        labels=labels,
        assume_ambiguity=assume_ambiguity,
        revision=revision,
    )
    f = corpus.facts
    print(
        f"ok: {f.n_items:,} items in {f.n_clusters:,} clusters, {f.n_unsafe:,} unsafe, "
        f"{f.n_safe:,} safe, {f.n_unlabelled:,} unlabelled"
    )
    for note in f.notes:
        print(f"    {_line(note)}")
    if f.n_ambiguous is None:
        print(f"    No ambiguity flags ({_line(f.ambiguity_source)}): U_rate will be undefined.")


@app.command()
def surface(
    name: _Name,
    *,
    data: _Data = None,
    subset: _Subset = None,
    limit: _Limit = None,
    seed: _Seed = 0,
    labels: _Labels = None,
    revision: _Revision = None,
    folds: Annotated[int, typer.Option(min=2, max=100, help="Folds of clusters.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say how far the labels can be told from surface words (needs judgeaudit[control]).

    TF-IDF and logistic regression; each item is judged by a model that saw none of its cluster.
    """
    from judgeaudit.corpora import load
    from judgeaudit.corpora._surface import surface as told

    corpus = load(
        name, data=data, subset=subset, limit=limit, seed=seed, labels=labels, revision=revision
    )
    found = told(corpus.items, n_folds=folds, seed=seed)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    print(f"{_line(corpus.facts.name)}: {found.sentence}")
    majority = "not known" if found.majority is None else f"{found.majority:.1%}"
    for word, value in (
        ("AUROC", _figure(found.auroc, "{:.3f}")),
        ("accuracy", _figure(found.accuracy, "{:.1%}")),
        ("always the same", f"{majority} (the more frequent label)"),
        ("items", f"{found.n_items:,} labelled in {found.n_clusters:,} clusters"),
        ("method", f"{found.method}: {found.folds}"),
        ("words, unsafe", ", ".join(found.unsafe_words) or "none"),
        ("words, safe", ", ".join(found.safe_words) or "none"),
    ):
        print(f"    {word:<17}{_line(value)}")


def _figure(told: Told, form: str) -> str:
    if told.value is None:
        return f"not known: {told.why}"
    value = form.format(told.value)
    if told.low is None or told.high is None:
        return f"{value} (no interval: {told.why_no_interval})"
    ends = f"[{form.format(told.low)}, {form.format(told.high)}]"
    return f"{value} {ends} ({told.method}, {told.level:.0%})"


def _describe(reader: type[CorpusReader]) -> None:
    import inspect

    print(f"{reader.title}\n")
    print(inspect.getdoc(reader))
    print(f"\nneeds --data: {reader.needs}")
    if reader.license:
        print(f"licence: {reader.license}")


def _facts(f: CorpusFacts) -> list[tuple[str, str]]:
    flags = "not known" if f.n_ambiguous is None else str(f.n_ambiguous)
    return [
        ("corpus", f.name + (f", subset {f.subset}" if f.subset else "")),
        ("title", f.title),
        ("version", f.version),
        ("licence", f.license or "not stated"),
        ("items", str(f.n_items)),
        ("clusters", str(f.n_clusters)),
        ("unsafe", str(f.n_unsafe)),
        ("safe", str(f.n_safe)),
        ("unlabelled", str(f.n_unlabelled)),
        ("ambiguous", flags),
        ("labels by", f.label_source),
        ("ambiguity", f.ambiguity_source),
        *(("note", note) for note in f.notes),
        ("sha256", f.sha256),
    ]


def _strata(corpus: Corpus) -> list[tuple[str, str]]:
    """Count the values of each stratum, the most frequent first."""
    from collections import Counter, defaultdict

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item in corpus.items:
        for name, value in item.strata.items():
            counts[name][value] += 1
    return [
        ("by " + name, "; ".join(f"{v} {n}" for v, n in counts[name].most_common()))
        for name in sorted(counts)
    ]


def _head(item: Item) -> str:
    flag = {None: "ambiguity not known", True: "ambiguous", False: "clear"}[item.ambiguous]
    first = next((t.content for t in item.trajectory.turns if t.role == "user"), None)
    parts = [
        item.key,
        item.label or "unlabelled",
        flag,
        item.cluster,
        f"{len(item.trajectory.turns)} turns",
    ]
    return "  ".join([*(_line(p) for p in parts), _line(first or "(no user message)", limit=60)])


def _print_turns(item: Item) -> None:
    if item.trajectory.profile:
        _block("profile", item.trajectory.profile)
    for turn in item.trajectory.turns:
        for word, text in (
            (turn.role, turn.content),
            ("agent thinks", turn.thought),
            ("agent acts", turn.action),
        ):
            if text is not None:
                _block(word, text)
    print()


def _block(word: str, text: str) -> None:
    """Print a text indented, so that no line of it can pass for one of ours."""
    from judgeaudit.core.terminal import plain

    print(f"    [{word}]")
    for line in plain(text).split("\n"):
        print(f"        {line}")


def _line(text: str, *, limit: int | None = None) -> str:
    """Make a text harmless, and one line."""
    from judgeaudit.core.terminal import plain

    return plain(" ".join(text.split()) if limit else text.replace("\n", " "), limit=limit)
