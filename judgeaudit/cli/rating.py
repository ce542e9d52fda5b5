"""`policy sheet` and `policy certify`: certificates by people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from judgeaudit.policy.rating import Sheet

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("sheet")(_sheet)
    app.command("certify")(_certify)


def sheet_of(
    policy: str | None,
    rewrites: Path | None,
    condition: list[str] | None,
    *,
    wordings: int,
    planted: int,
    seed: int,
) -> Sheet:
    """Lay out the pairs of a policy, or of a folder of the user's own texts.

    Raises
    ------
    PolicyError
        If neither is named, or one cannot be used.
    """
    from judgeaudit.core.errors import PolicyError
    from judgeaudit.policy import load_policy
    from judgeaudit.policy.rating import make_sheet, pairs_of_policy
    from judgeaudit.policy.rewrites import load_rewrites

    known = load_policy(policy) if policy is not None else None
    if rewrites is not None:
        own = load_rewrites(rewrites, policy=known)
        base, rated = own.rated(condition)
        return make_sheet(
            base, rated, policy=None, planted=planted, own_wrong=own.planted, seed=seed
        )
    if known is None:
        raise PolicyError("nothing to rate", mend="Name a policy, or a folder with --rewrites")
    base, rated = pairs_of_policy(known, condition, wordings=wordings)
    return make_sheet(base, rated, policy=known, planted=planted, seed=seed)


def _sheet(
    policy: Annotated[
        str | None,
        typer.Argument(metavar="POLICY", help="A name, or the path of a TOML file."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the sheet.")],
    rewrites: Annotated[
        Path | None, typer.Option(help="A folder of your own texts, one a condition.")
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Rate these conditions (repeat the flag); default: certified and near."),
    ] = None,
    wordings: Annotated[int, typer.Option(min=1, help="Wordings of each.")] = 1,
    planted: Annotated[int, typer.Option(min=0, help="Wrong rewrites, as attention checks.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the order and of the wrong ones.")] = 0,
) -> None:
    """Make a rating sheet: a page and a CSV for raters, and a key for you."""
    from judgeaudit.policy.rating import write_sheet

    sheet = sheet_of(policy, rewrites, condition, wordings=wordings, planted=planted, seed=seed)
    paths = write_sheet(sheet, out)
    real = [p for p in sheet.pairs if p.planted is None]
    print(f"Sheet {sheet.name}: {len(real)} rewrites, {len(sheet.pairs) - len(real)} planted wrong")
    print(f"  for raters: {paths['sheet.html']}  (or {paths['sheet.csv']})")
    print(f"  for you:    {paths['key.json']}  (says what is what: do not pass it on)")
    print("At least three raters vote on everything. Then:")
    print(f"  judgeaudit policy certify {out} VOTES... ")


def _certify(
    sheet: Annotated[
        Path, typer.Argument(metavar="SHEET", help="The folder of the sheet, or its key.json.")
    ],
    votes: Annotated[
        list[Path], typer.Argument(metavar="VOTES", help="Files of votes, one a rater or more.")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write; default: certificates.json beside it."),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            help="unanimous (all say yes on each dimension) or majority (more than half)."
        ),
    ] = "unanimous",
    allow_failed: Annotated[
        int, typer.Option(min=0, help="Attention checks a rater may fail and still count.")
    ] = 0,
) -> None:
    """Import votes, report on them, and write the certificates that follow from them.

    Exit code 1 if a rewrite failed or too few raters voted on it; 2 if a vote does not match.
    """
    from judgeaudit.core.errors import ConfigError, unknown_name
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy.rating import CertificateFile, decide, load_sheet, read_votes, save
    from judgeaudit.review.report import rating_report, words

    if rule not in ("unanimous", "majority"):
        raise ConfigError(unknown_name("rule", rule, ["unanimous", "majority"]))
    made = load_sheet(sheet)
    taken = read_votes(made, votes)
    decision = decide(made, taken, rule=rule, allow_failed=allow_failed)  # type: ignore[arg-type]
    report = rating_report(made, taken, decision)
    print(plain(words(report)))
    path = out or (sheet if sheet.is_dir() else sheet.parent) / "certificates.json"
    save(
        CertificateFile(
            sheet=made,
            rule=rule,
            allow_failed=allow_failed,
            votes=taken,
            certificates=decision.certificates,
        ),
        path,
    )
    print(f"\nWritten: {path}. Use it with `judgeaudit audit --certificates {path}`.")
    if report.open_pairs or report.passed < report.certified:
        raise typer.Exit(1)
