"""`policy delta`, `policy wordings`: finished runs by the policy's length and by its wording."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli.policy import app

if TYPE_CHECKING:
    from judgeaudit.core.records import Score, ScoreSet
    from judgeaudit.engine.identity import RunMeta

__all__: list[str] = []

_METRICS = {"delta_paper": "Delta (paper)", "delta_debiased": "Delta (debiased)"}
_WIDTH = 48
_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or its ledger.sqlite.")]
_Condition = Annotated[
    str, typer.Option(help="A condition's id, or `certified`: the pool of the certified ones.")
]


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a table: what it is called, and its scores by metric."""

    label: str
    n_items: int
    scores: dict[str, Score | None]


@app.command("delta")
def _delta(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, one a policy.")
    ],
    *,
    condition: _Condition = "certified",
) -> None:
    """Print the effect of rewording against the number of norms, over finished runs.

    Delta is the share of verdicts that a reworded policy turns beyond jitter. Run the same audit
    once a policy (`judgeaudit audit --policy NAME --out RUN`), and give the folders.
    """
    from judgeaudit import audit
    from judgeaudit.core.errors import ConfigError

    metas = [(_meta(run), run) for run in runs]
    for meta, run in metas:
        if meta.policy.n_norms is None:
            raise ConfigError(
                "the number of norms is not known: the run used texts of the user's own",
                where=str(run),
                mend="Give runs of policies that are data",
            )
    found = sorted(metas, key=lambda x: x[0].policy.n_norms or 0)
    policies = [meta.policy for meta, _ in found]
    width = max(len(p.id) for p in policies)
    rows = [
        _row(f"{p.n_norms:>5}  {p.id:<{width}}  {p.language}", audit.score(run), condition)
        for p, (_, run) in zip(policies, found, strict=True)
    ]
    print(f"Effect of rewording by length of the policy (condition: {condition})\n")
    _print(rows, f"norms  {'policy':<{width}}  in")
    print(_caution([meta for meta, _ in found]))


@app.command("wordings")
def _wordings(run: _Run, *, condition: _Condition = "certified") -> None:
    """Print the effect of each single wording beside that of its transform.

    For runs made with `judgeaudit audit --wordings N`.
    """
    import numpy as np

    from judgeaudit.core.errors import ConfigError, unknown_name
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.scoring import score

    meta = _meta(run)
    with Ledger.open_readonly(_ledger(run)) as view:
        table = view.table()
    kinds = {c.id: c.kind for c in meta.protocol.conditions}
    if condition != "certified" and condition not in kinds:
        raise ConfigError(unknown_name("condition", condition, ["certified", *kinds]))
    wanted = [c for c, kind in kinds.items() if condition in (c, kind)]
    base = table.column_indices("base")
    rows: list[_Row] = []
    for id_ in wanted:
        columns = table.column_indices(id_)
        label = f"{id_:<9}  {'all' if len(columns) > 1 else table.columns[columns[0]][1]:>7}"
        rows.append(_row(label, score(table, meta.protocol, metrics=list(_METRICS)), id_))
        for j in columns if len(columns) > 1 else ():
            kept = sorted({*base, j})
            one = replace(
                table,
                columns=tuple(table.columns[k] for k in kept),
                codes=np.ascontiguousarray(table.codes[:, kept, :]),
                confidence=None,
            )
            scores = score(one, meta.protocol, metrics=list(_METRICS))
            rows.append(_row(f"{'':<9}  {table.columns[j][1]:>7}", scores, id_))
    print(f"Effect of each wording of {meta.policy.id} ({meta.policy.n_norms} norms)\n")
    _print(rows, f"{'condition':<9}  wording")
    print(
        "`all` pools the wordings of a transform. One wording that stands apart is its own effect."
    )


def _ledger(run: Path) -> Path:
    from judgeaudit.audit import LEDGER

    return run / LEDGER if run.is_dir() else run


def _meta(run: Path) -> RunMeta:
    from judgeaudit.engine.ledger import Ledger

    with Ledger.open_readonly(_ledger(run)) as view:
        return view.meta


def _row(label: str, scores: ScoreSet, condition: str) -> _Row:
    found = {metric: scores.find(metric, condition) for metric in _METRICS}
    return _Row(label, max((s.n_items for s in found.values() if s), default=0), found)


def _print(rows: list[_Row], head: str) -> None:
    """Print a table of both estimates, then the intervals of the first drawn to one scale."""
    from judgeaudit.cards import words

    cells = [[head, *(x for name in _METRICS.values() for x in (name, "interval")), "items"]]
    cells += [
        [r.label, *(x for s in r.scores.values() for x in (words.estimate(s), words.interval(s))),
         str(r.n_items)]
        for r in rows
    ]  # fmt: skip
    widths = [max(len(c[k]) for c in cells) for k in range(len(cells[0]))]
    for c in cells:
        print("  ".join(x.ljust(w) for x, w in zip(c, widths, strict=True)).rstrip())
    first = next(iter(_METRICS))
    drawn = [(r.label, r.scores[first]) for r in rows]
    values = [s.value for _, s in drawn if s is not None and s.value is not None]
    values += [x for _, s in drawn for x in words.ends(s) or ()]
    low, high = min([0.0, *values]), max([0.0, *values])
    if high == low:
        print()
        return
    left, right = (f"{100 * x:+.1f}".replace("-", "−") for x in (low, high))
    pad = " " * widths[0]
    print(f"\n{pad}  {left}{right.rjust(_WIDTH - len(left))}  ({_METRICS[first]}, points)")
    for label, s in drawn:
        print(f"{label:<{widths[0]}}  {_bar(s, low, high)}".rstrip())
    print()


def _bar(score: Score | None, low: float, high: float) -> str:
    """Draw an interval: `|` is zero, `o` the value."""
    from judgeaudit.cards import words

    def at(x: float) -> int:
        return round((x - low) / (high - low) * (_WIDTH - 1))

    cells = [" "] * _WIDTH
    if reach := words.ends(score):
        for k in range(at(reach[0]), at(reach[1]) + 1):
            cells[k] = "-"
    cells[at(0.0)] = "|"
    if score is not None and score.value is not None:
        cells[at(score.value)] = "o"
    return "".join(cells)


def _caution(metas: list[RunMeta]) -> str:
    """Say in what else than the policy the runs differ, and what the table cannot show."""
    one, *others = [
        {
            k: v
            for k, v in m.identity().items()
            if not k.startswith(("policy.", "rendering ", "condition "))
        }
        for m in metas
    ]
    differ = sorted({k for o in others for k in {*one, *o} if one.get(k) != o.get(k)})
    lines = []
    if differ:
        lines.append(f"Caution: the runs differ in more than the policy: {', '.join(differ)}.")
    lines.append(
        "Policies differ in content too, not in length alone: a trend is a lead, not a cause."
    )
    return "\n".join(lines)
