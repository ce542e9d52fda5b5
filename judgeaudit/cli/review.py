"""`policy opinion`, `policy import` and `policy confirm`: a model's help, and a person's word."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from judgeaudit.core.records import JudgeSpec
    from judgeaudit.policy.questions import QuestionTemplate

__all__ = ["add_to"]

_Judge = Annotated[
    str,
    typer.Option(help="LiteLLM model string, or backend:model, as for `audit --judge`."),
]
_Base = Annotated[str | None, typer.Option(help="Root of an OpenAI-compatible server.")]
_Seconds = Annotated[float, typer.Option(min=1, help="Seconds a request may take.")]
_MaxTokens = Annotated[int | None, typer.Option(min=1, help="Cap on an answer's tokens.")]
_Temperature = Annotated[float | None, typer.Option(min=0, help="Sampling temperature sent.")]


def add_to(app: typer.Typer) -> None:
    """Register these verbs on the application."""
    app.command("opinion")(_opinion)
    app.command("import")(_import)
    app.command("confirm")(_confirm)


def _opinion(
    policy: Annotated[
        str | None, typer.Argument(metavar="POLICY", help="A name, or the path of a TOML file.")
    ] = None,
    *,
    judge: _Judge,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to keep the answers.")] = Path(
        "opinions.json"
    ),
    rewrites: Annotated[
        Path | None, typer.Option(help="A folder of your own texts, one a condition.")
    ] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="Ask about these conditions (repeat the flag).")
    ] = None,
    wordings: Annotated[int, typer.Option(min=1, help="Wordings of each.")] = 1,
    planted: Annotated[
        int, typer.Option(min=1, help="Wrong rewrites among them, to test the model.")
    ] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the wrong ones.")] = 0,
    api_base: _Base = None,
    temperature: _Temperature = None,
    max_tokens: _MaxTokens = None,
    seconds: _Seconds = 120.0,
) -> None:
    """Ask a model, in both orders, whether each rewrite says the same. A flag, never a gate."""
    from judgeaudit.cli.rating import sheet_of
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy.questions import load_question
    from judgeaudit.review.asking import model_spec
    from judgeaudit.review.opinions import OPINION_SCHEMA, ask_opinions, words

    made = sheet_of(policy, rewrites, condition, wordings=wordings, planted=planted, seed=seed)
    question = load_question("opinion", ("first", "second"))
    spec = model_spec(
        judge,
        question,
        api_base=api_base,
        temperature=temperature,
        max_tokens=max_tokens,
        json_schema=OPINION_SCHEMA,
    )
    file, failed = ask_opinions(made, spec, out, seconds=seconds)
    print(plain(words(file, failed)))
    print(f"\nKept: {out}. Show it on a card with `judgeaudit audit --certificates {out}`.")


def _import(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The text of a policy (UTF-8).")],
    *,
    judge: _Judge,
    out: Annotated[Path, typer.Option("--out", "-o", help="The TOML file to write.")],
    api_base: _Base = None,
    temperature: _Temperature = None,
    max_tokens: _MaxTokens = None,
    attempts: Annotated[
        int, typer.Option(min=1, help="Requests at most; the model is told what was wrong.")
    ] = 3,
    schema: Annotated[
        bool, typer.Option("--schema", help="Hold the model to the JSON schema (if it can).")
    ] = False,
    by_sentence: Annotated[
        bool,
        typer.Option(
            "--by-sentence", help="Ask sentence by sentence: more requests, within a small model."
        ),
    ] = False,
    seconds: _Seconds = 300.0,
) -> None:
    """Let a model draft a policy as data from a text. A draft: a person confirms it, or not."""
    from judgeaudit.core.errors import PolicyError
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy.drafting import draft_schema
    from judgeaudit.policy.questions import load_question
    from judgeaudit.review.asking import model_spec
    from judgeaudit.review.by_sentence import draft_by_sentence
    from judgeaudit.review.importing import draft_policy, read_source, review, words

    if out.suffix != ".toml":
        raise PolicyError(f"{out.name!r} is no TOML file", mend="Let its name end in .toml")
    if out.exists():
        raise PolicyError("the file is there already", where=str(out), mend="Choose another name")
    text = read_source(source)

    def spec_of(question: QuestionTemplate, json_schema: dict[str, Any]) -> JudgeSpec:
        return model_spec(
            judge,
            question,
            api_base=api_base,
            temperature=temperature,
            max_tokens=max_tokens,
            json_schema=json_schema,
            enforce=schema,
            room=400 if by_sentence else 4000,
        )

    keep = out.with_suffix(".answer.txt")
    left_out: tuple[str, ...] = ()
    if by_sentence:
        name = source.stem
        drafted, left_out = draft_by_sentence(
            text, spec_of, name=name, attempts=attempts, seconds=seconds, keep=keep
        )
    else:
        spec = spec_of(load_question("draft", ("text", "trouble")), draft_schema())
        drafted = draft_policy(text, spec, attempts=attempts, seconds=seconds, keep=keep)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(drafted.toml, encoding="utf-8")
    print(plain(words(review(drafted.policy, text), drafted.assumed)))
    for line in left_out:
        print(plain(f"Left out: {line}"))
    print(f"\nWritten: {out}, not confirmed. Mend it where it is wrong, then:")
    paths = shlex.quote(str(out)), shlex.quote(str(source))
    print(f"  judgeaudit policy confirm {paths[0]} --source {paths[1]} --by NAME")


def _confirm(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A policy that a model drafted.")],
    *,
    by: Annotated[str, typer.Option(help="Your name; it stands in the file.")],
    source: Annotated[
        Path | None, typer.Option(help="The text it was drafted from, to compare with.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; I have read it.")] = False,
) -> None:
    """Show a drafted policy, and mark it as confirmed by a person. A later change voids that."""
    from judgeaudit.core.errors import PolicyError
    from judgeaudit.core.terminal import plain
    from judgeaudit.policy import load_policy
    from judgeaudit.policy._toml import read_text
    from judgeaudit.policy.confirming import confirm, why_unconfirmed
    from judgeaudit.review.importing import read_source, review, words

    policy = load_policy(path)
    if policy.draft is None:
        raise PolicyError("no model drafted it: there is nothing to confirm", where=str(path))
    if why_unconfirmed(policy) is None:
        print(f"{policy.id} was confirmed already, by {policy.draft.confirmed_by}.")
        return
    original = None if source is None else read_source(source)
    text = confirm(read_text(path), policy, by=by, original=original, where=str(path))
    print(plain(words(review(policy, original))))
    if not yes:
        said = typer.prompt(f"\nIf this is what the text says, type the policy's id ({policy.id})")
        if said.strip() != policy.id:
            print("Not confirmed.")
            raise typer.Exit(1)
    path.write_text(text, encoding="utf-8")
    print(f"Confirmed by {by}: {path}")
