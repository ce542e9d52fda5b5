"""The documents' shell examples run, in order, and print what the pages show; pages lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.main import app
from judgeaudit.core.errors import JudgeAuditError

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {p.relative_to(DOCS).as_posix(): p.read_text("utf-8") for p in sorted(DOCS.rglob("*.md"))}
TOLD = [name for name, text in PAGES.items() if "```console\n" in text]
BLOCK = re.compile(r"Save as `([\w.]+)`:\n\n```\w+\n(.*?)```|```console\n(.*?)```", flags=re.DOTALL)


def runs(name: str, command: str) -> tuple[int, str]:
    """Run a command as a shell would; `> file` sends what it prints there."""
    words = shlex.split(command)
    assert "judgeaudit" == words.pop(0), f"{name}: only our own commands are tried: {command}"
    target = None
    if ">" in words:
        target = Path(words.pop())
        assert ">" == words.pop()
    done = CliRunner().invoke(app, words)
    code = done.exit_code
    if isinstance(done.exception, JudgeAuditError):
        code = done.exception.exit_code
    elif done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if target is not None:
        target.write_text(done.stdout, encoding="utf-8")
    return code, done.stdout


def lacks(printed: str, shown: list[str]) -> list[str]:
    """List the lines that were not printed; `…` stands for anything."""
    lines = [line.strip() for line in printed.splitlines()]
    out = []
    for line in shown:
        pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
        if not any(re.fullmatch(pattern, x) for x in lines):
            out.append(line)
    return out


@pytest.mark.parametrize("name", TOLD)
def test_examples_run_in_order_and_print_what_is_shown(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    tried = 0
    for file, text, console in BLOCK.findall(PAGES[name]):
        if file:
            Path(file).write_text(text, encoding="utf-8")
            continue
        steps = re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]
        code, asked = 0, False
        for k, step in enumerate(steps):
            command, *shown = step.rstrip("\n").split("\n")
            if command == "echo $?":
                assert [str(code)] == shown
                continue
            code, printed = runs(name, command)
            asked = k + 1 < len(steps) and steps[k + 1].startswith("echo $?")
            assert asked or code == 0, f"{command}: exit code {code}\n{printed}"
            assert [] == lacks(printed, shown), f"{command} printed\n{printed}"
            tried += 1
    assert tried


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_file(name):
    here = (DOCS / name).parent
    links = [x for x in re.findall(r"\]\(([^)\s]+)\)", PAGES[name]) if "://" not in x]
    missing = [
        x
        for x in links
        if x.partition("#")[0] and not (here / unquote(x.partition("#")[0])).exists()
    ]
    assert [] == missing


def test_every_page_stands_in_the_contents():
    index = PAGES["index.md"]
    listed = set(re.findall(r"^[a-z_]+(?:/[a-z_]+)?$", index, flags=re.MULTILINE))
    pages = {n.removesuffix(".md") for n in PAGES if not n.startswith(("decisions/", "generated/"))}
    assert pages - {"index"} == listed


def test_the_reference_names_every_verb_and_every_field(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import _generate

    from judgeaudit.cards import schema

    text = _generate.cli()
    commands = re.findall(r"^#+ ([a-z -]+)$", text, flags=re.MULTILINE)
    assert {"audit", "site", "card verify", "stats compare-runs", "policy check"} <= set(commands)
    assert "`--until`" in text
    fields = _generate.card_schema()
    for record in (schema(), *schema()["$defs"].values()):
        for field in record.get("properties", {}):
            assert f"| `{field}`" in fields
