"""`policy`: show, compare and check policies and their renderings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from judgeaudit.cli import linting, rating, review

if TYPE_CHECKING:
    from pathlib import Path

    from judgeaudit.core.records import Policy, Rendering

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
rating.add_to(app)
review.add_to(app)
linting.add_to(app)

_Name = Annotated[str, typer.Argument(metavar="POLICY", help="A name, or the path of a TOML file.")]
_Language = Annotated[
    str | None,
    typer.Option(help="Language of the text: en or ko; by default en, or that of the file."),
]
_Wording = Annotated[int, typer.Option(min=0, help="Which of a transform's wordings.")]


@app.command("list")
def _list() -> None:
    """List the policies that ship, and the conditions under which they can be rendered."""
    from judgeaudit.policy import facts, load_conditions, load_policy, policy_names

    print("Policies")
    for language in ("en", "ko"):
        for name in policy_names(language):
            f = facts(load_policy(name, language=language))
            size = f"{f.n_norms} norms, {f.n_exceptions} exceptions"
            print(f"  {name}  {f.title}: {size} ({f.language})")
    print("\nConditions")
    conditions = load_conditions().values()
    width = max(len(c.id) for c in conditions)
    for c in conditions:
        print(f"  {c.id:<{width}}  {c.kind:<9}  {c.summary}")


@app.command("show")
def _show(
    name: _Name,
    *,
    condition: Annotated[str, typer.Option(help="A condition's id, or `all`.")] = "base",
    language: _Language = None,
    wording: _Wording = 0,
    data: Annotated[bool, typer.Option("--data", help="Print the policy's data instead.")] = False,
) -> None:
    """Print the text of a policy under a condition."""
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy import load_conditions, load_policy, policy_path, render

    policy = load_policy(name, language=language)
    if data:
        print(plain(policy_path(name, language).read_text(encoding="utf-8-sig")), end="")
        return
    ids = list(load_conditions()) if condition == "all" else [condition]
    renderings = [render(policy, id_, language=policy.language, wording=wording) for id_ in ids]
    for r in renderings:
        if len(renderings) > 1:
            print(f"===== {r.condition} ({load_conditions()[r.condition].summary}) =====\n")
        print(r.text, end="\n" if len(renderings) > 1 else "")


@app.command("diff")
def _diff(
    name: _Name,
    first: Annotated[str, typer.Argument(metavar="CONDITION", help="The old text.")],
    second: Annotated[str, typer.Argument(metavar="CONDITION", help="The new text.")],
    *,
    language: _Language = None,
    wording: _Wording = 0,
) -> None:
    """Compare the texts of two conditions word by word."""
    from judgeaudit.policy import load_policy, render
    from judgeaudit.policy.worddiff import in_order_of, plain_diff, word_diff

    policy = load_policy(name, language=language)
    old = render(policy, first, language=policy.language, wording=wording)
    new = render(policy, second, language=policy.language, wording=wording)
    if old.text == new.text:
        print(f"{first} and {second} have the same text.")
        return
    before = in_order_of(new.text, old.text)
    if before != old.text:
        print(f"(Items are compared in the order of {second}.)\n")
    pieces = word_diff(before, new.text)
    if not sys.stdout.isatty():
        print(plain_diff(pieces), end="")
        return
    from rich.console import Console
    from rich.text import Text

    style = {"same": "", "removed": "red strike", "added": "green underline"}
    text = Text()
    for kind, piece in pieces:
        text.append(piece, style=style[kind])
    Console(highlight=False, soft_wrap=True).print(text, end="")


@app.command("check")
def _check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[POLICY]...", help="Names, or paths of TOML files."),
    ] = None,
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="Every policy that ships, in every language.")
    ] = False,
    language: _Language = None,
    wordings: Annotated[int, typer.Option(min=1, help="Wordings to check of each.")] = 1,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Also test the check: wrong rewrites must all be caught."),
    ] = False,
) -> None:
    """Read every rendering back against its policy.

    Exit code 1 if a rendering does not say what it is meant to say.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.policy import load_policy
    from judgeaudit.policy.loading import policy_files

    if bool(names) == all_:
        raise ConfigError("give either policies or --all")
    failed = missed = 0
    chosen: list[str | Path] = [*(names or policy_files())]
    for k, name in enumerate(chosen):
        policy = load_policy(name, language=language)
        print("\n" * (k > 0), end="")
        failed += _certificates(policy, wordings)
        missed += _mutation_table(policy) if mutate else 0
    if failed or missed:
        raise typer.Exit(1)


def _certificates(policy: Policy, wordings: int) -> int:
    """Print the certificate of every text, and return how many fail."""
    from judgeaudit.policy import facts, load_conditions, render

    f = facts(policy)
    print(f"{f.title}: {f.n_norms} norms, {f.n_exceptions} exceptions, sha256 {f.sha256[:12]}")
    failed = 0
    conditions = load_conditions()
    width = max(len(id_) for id_ in conditions)
    for id_, c in conditions.items():
        seen: set[str] = set()
        for w in range(wordings):
            r = render(policy, id_, language=policy.language, wording=w)
            if r.sha256 in seen:
                continue
            seen.add(r.sha256)
            which = f" wording {w}" if wordings > 1 else ""
            failed += _print_certificate(r, f"{id_:<{width}}{which}", c.kind)
    return failed


def _print_certificate(r: Rendering, label: str, kind: str) -> int:
    certificate = r.certificate
    assert certificate is not None
    verdict = "passed" if certificate.passed else "FAILED"
    print(f"  {label}  {kind:<9}  {certificate.evidence}: {verdict}  {r.sha256[:12]}")
    for finding in certificate.findings:
        print(f"      {finding.dimension}: {finding.where}: {finding.what}")
    return int(not certificate.passed)


def _mutation_table(policy: Policy) -> int:
    from judgeaudit.policy.mutation import kill_rates

    which = f"{policy.id}, {policy.language}, over all conditions but no_policy"
    print(f"\nWrong rewrites caught by the check ({which})")
    rates = kill_rates(policy)
    width = max(len(name) for name in rates)
    for name, (caught, made) in rates.items():
        share = f"{caught:>5} of {made}" if made else "    - (nothing to change)"
        print(f"  {name:<{width}}  {share}")
    caught = sum(c for c, _ in rates.values())
    made = sum(m for _, m in rates.values())
    print(f"  {'all':<{width}}  {caught:>5} of {made}")
    return made - caught
