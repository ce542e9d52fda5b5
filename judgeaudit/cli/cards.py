"""`card`: make, verify and sign Judge Cards, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from judgeaudit.cards import JudgeCard

__all__ = ["app"]

_MAKE: Final = "make"
_PDF: Final = "pdf"


class _Group(TyperGroup):
    """`card RUN` is short for `card make RUN`: so it was before there were other verbs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_MAKE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="`card RUN` is short for `card make RUN`; a run in a folder named like one of these "
    "verbs is `card make verify`, or `card ./verify`.",
)

_CardFile = Annotated[Path, typer.Argument(metavar="CARD", help="A card.json.")]
_Certificates = Annotated[
    list[Path] | None,
    typer.Option(help="Certificates made since (repeat the flag)."),
]
_Statements = Annotated[
    Path | None,
    typer.Option(
        help="TOML file (by, items, contamination): what no run can know, stated by somebody."
    ),
]


@app.command(_MAKE)
def _make(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run, its ledger.sqlite, or a card.json to show."
        ),
    ],
    *,
    certificates: _Certificates = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="json, md, html, hf (model card of a hub), badge (SVG), latex, csv, pdf, one that "
            "an entry point adds, or all (json, md and html, written into the folder).",
        ),
    ] = "all",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write to; default: the run's own, or standard output."),
    ] = None,
    created: Annotated[
        str | None,
        typer.Option(help="Time to print on the card; default: when the run ended."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Human labels on a random few items: adds a section (see `correct`)."),
    ] = None,
    statements: _Statements = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="Add what the judge knows of itself, reasons compared by: lexical, or asked (see "
            "`confidence`)."
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            help="en, or ko for Korean: html and md, as card.ko.html and card.ko.md; what is "
            "not translated stays English."
        ),
    ] = "en",
    browser: Annotated[
        str | None,
        typer.Option(help="For pdf: Chromium or Chrome; default: the first on PATH."),
    ] = None,
) -> None:
    """Make the Judge Card of a run again from its ledger alone; or show a card in another format.

    `card RUN` is short for `card make RUN`.
    """
    from judgeaudit import audit, cards
    from judgeaudit.core.errors import ConfigError

    _check_form(form, language)
    if run.is_file() and run.suffix == ".json":
        if created or labels or certificates or statements or confidence:
            raise ConfigError(
                "a card.json is shown as it is: --created, --labels, --statements, --confidence "
                "and --certificates need its run",
                where=str(run),
            )
        card = _opened(run)
    else:
        card = audit.card(
            run,
            created=created,
            certificates=certificates or (),
            labels=labels,
            statements=statements,
            confidence=confidence,
        )
    folder = out or audit.folder_of(run)
    if language == "ko":
        _korean(card, form, out, folder)
        return
    if form == "all":
        for path in cards.write(card, folder).values():
            typer.echo(str(path))
        return
    if form == _PDF:
        from judgeaudit.cards.pdf import write_pdf

        typer.echo(str(write_pdf(card, folder / "card.pdf", browser=browser)))
        return
    text = cards.ALL_FORMATS[form](card)
    if out is not None:
        typer.echo(str(cards.write_text(text, out / cards.file_of(form))))
        return
    # bytes: these files are UTF-8, whatever the terminal is
    typer.echo(text.encode(), nl=False)


def _check_form(form: str, language: str) -> None:
    from judgeaudit import cards
    from judgeaudit.core.errors import ConfigError, unknown_name

    known = [*cards.ALL_FORMATS, _PDF, "all"]
    if form not in known:
        raise ConfigError(unknown_name("format", form, known))
    if language not in cards.LANGUAGES:
        raise ConfigError(unknown_name("language", language, [*cards.LANGUAGES]))
    if language != "en" and form not in {"all", "html", "md"}:
        raise ConfigError(
            f"{form} is not made in another language", mend="Give --format html, md or all"
        )


def _korean(card: JudgeCard, form: str, out: Path | None, folder: Path) -> None:
    """Write the card in Korean beside the English one, or print it."""
    from judgeaudit import cards

    made = {"html": cards.to_html, "md": cards.to_markdown}
    wanted = list(made) if form == "all" else [form]
    for name in wanted:
        text = made[name](card, language="ko")
        if form == "all" or out is not None:
            typer.echo(str(cards.write_text(text, folder / f"card.ko.{name}")))
        else:
            typer.echo(text.encode(), nl=False)


def _opened(path: Path) -> JudgeCard:
    from judgeaudit.cards.verify import opened
    from judgeaudit.cli import _out

    given = opened(path)
    if given.migrated.steps:
        _out.aside(
            f"judgeaudit: brought from schema version {given.migrated.version} to "
            f"{given.card.schema_version}"
        )
    return given.card


@app.command("verify")
def _verify(
    card: _CardFile,
    *,
    run: Annotated[
        Path | None,
        typer.Option(help="The run's folder or ledger; default: the ledger beside the card."),
    ] = None,
    certificates: _Certificates = None,
    labels: Annotated[
        Path | None, typer.Option(help="The human labels that the card was made with.")
    ] = None,
    statements: _Statements = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Compare only numbers and facts, not words.")
    ] = False,
    signature: Annotated[
        Path | None, typer.Option(help="Its signature; default: CARD.sig.")
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(help="Check that this key signed the card; one you have from elsewhere."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Rebuild a card from its ledger and say which fields differ; check its signature and pages.

    CARD may be a run's folder. Pages beside it (card.html, card.md and the like) must be what the
    card gives.

    Exit codes: 0 the card is what its ledger gives (or, where there is no ledger at hand and
    none was named, its signature holds); 1 a field or a page differs, the ledger's chain is
    broken, or the signature does not hold; 2 a file is missing or cannot be read.
    """
    from judgeaudit.cli import _verify_words
    from judgeaudit.core.errors import ConfigError

    if signature is not None and public_key is None:
        raise ConfigError(
            "a signature can be checked only with a public key that you trust",
            where="--signature",
            mend="Give it with --public-key",
        )
    found = _verify_words.checked(
        card,
        run,
        certificates=certificates or (),
        labels=labels,
        statements=statements,
        figures=figures,
        signature=signature,
        public_key=public_key,
    )
    typer.echo(json.dumps(found.as_json(), indent=1) if as_json else found.words())
    if not found.good:
        raise typer.Exit(1)


@app.command("sign")
def _sign(
    card: _CardFile,
    *,
    key: Annotated[Path, typer.Option(help="The private key (PEM, Ed25519); see `card keygen`.")],
    out: Annotated[
        Path | None, typer.Option(help="File of the signature; default: CARD.sig.")
    ] = None,
) -> None:
    """Sign a card: a small file beside it, over the card's canonical JSON (`judgeaudit[sign]`)."""
    from judgeaudit.cards import signing

    made = signing.sign(card, key)
    path = out or signing.signature_path(card)
    signing.write_signature(made, path)
    typer.echo(f"{path}: signed with the key {made.key_id}")


@app.command("keygen")
def _keygen(
    stem: Annotated[
        Path, typer.Argument(metavar="NAME", help="Makes NAME.key.pem and NAME.pub.pem.")
    ] = Path("judgeaudit"),
) -> None:
    """Make a pair of keys for signing cards; the private one is readable by you alone."""
    from judgeaudit.cards import signing

    private, public, name = signing.make_keys(stem)
    typer.echo(f"{private}: keep it secret\n{public}: give it to your readers\nkey id {name}")


@app.command("log-mlflow")
def _log_mlflow(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder of a run, its ledger.sqlite, or a card.json."),
    ],
    *,
    tracking_uri: Annotated[
        str,
        typer.Option(help="The tracking store: a folder, sqlite:///FILE, or a server's address."),
    ],
    experiment: Annotated[str, typer.Option(help="The experiment's name.")] = "judgeaudit",
    run_name: Annotated[
        str | None, typer.Option(help="The run's name; default: judge and time.")
    ] = None,
) -> None:
    """Log a card to MLflow (`judgeaudit[mlflow]`): scores as metrics, the card as artifacts.

    A figure without a value is no metric but a tag with the reason. The same card is logged once.
    """
    from judgeaudit import audit
    from judgeaudit.cards.tracking import log_card

    card = _opened(run) if run.is_file() and run.suffix == ".json" else audit.card(run)
    made = log_card(card, tracking_uri, experiment=experiment, run_name=run_name)
    what = f"{made.n_metrics} metrics, {made.n_undefined} figures without a value"
    what = f"logged: {what}" if made.new else "this card is there already"
    typer.echo(f"run {made.run_id} in {made.experiment}: {what}")


@app.command("schema")
def _schema(
    version: Annotated[
        str | None, typer.Option("--schema-version", help="An older layout; default: the newest.")
    ] = None,
) -> None:
    """Print the JSON Schema of card.json (draft 2020-12)."""
    from judgeaudit.cards.jsonio import published

    typer.echo(published(version).encode(), nl=False)
