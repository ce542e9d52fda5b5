"""`policy opinion`, `policy import` and `policy confirm`: a model's help, and a person's word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
