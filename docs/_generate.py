"""The pages of the reference that are made from the program: its verbs, and the card's schema."""

from __future__ import annotations

from pathlib import Path


def _cell(text: str) -> str:
    text = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    for char in "<>*_[]":
        text = text.replace(char, f"\\{char}")
    return text


def _names(param) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar or (param.name or '').upper()}`"
    return ", ".join(f"`{n}`" for n in [*param.opts, *param.secondary_opts])


def _verb(path: list[str], command, out: list[str]) -> None:
    if command.hidden:
        return
    subs = getattr(command, "commands", None)
    if path:
        out += [f"{'#' * (1 + len(path))} {' '.join(path)}", ""]
        text = " ".join((command.help or "").split("\n\n")[0].split())
        out += [_cell(text), ""]
    if subs is None:
        params = [p for p in command.params if "--help" not in p.opts]
        if params:
            out += ["| argument or flag | what it is |", "|---|---|"]
            out += [f"| {_names(p)} | {_cell(getattr(p, 'help', None) or '')} |" for p in params]
            out.append("")
        return
    for name, sub in subs.items():
        _verb([*path, name], sub, out)


def cli() -> str:
    """Every verb with its arguments and flags, as Markdown."""
    import typer.main

    from judgeaudit.cli.main import app

    out: list[str] = []
    _verb([], typer.main.get_command(app), out)
    return "\n".join(out) + "\n"


def _type(node: dict) -> str:
    if "$ref" in node:
        return f"[{node['$ref'].rpartition('/')[2]}](#{node['$ref'].rpartition('/')[2].lower()})"
    if "anyOf" in node:
        return " or ".join(_type(n) for n in node["anyOf"])
    if "const" in node:
        return f"`{node['const']!r}`"
    if "enum" in node:
        return ", ".join(f"`{v}`" for v in node["enum"])
    kind = node.get("type", "anything")
    if kind == "array":
        return f"list of {_type(node.get('items', {}))}"
    if kind == "object" and isinstance(node.get("additionalProperties"), dict):
        return f"table of {_type(node['additionalProperties'])}"
    return str(kind)


def card_schema() -> str:
    """Every record of a card with its fields, as Markdown."""
    from judgeaudit.cards import schema

    tree = schema()
    out = []
    for name, node in {"JudgeCard": tree, **tree.get("$defs", {})}.items():
        out += [f"## {name}", ""]
        if "properties" not in node:
            out += [_type(node), ""]
            continue
        needed = set(node.get("required", []))
        out += ["| field | type |", "|---|---|"]
        for field, what in node["properties"].items():
            mark = "" if field in needed else " (optional)"
            out.append(f"| `{field}`{mark} | {_type(what)} |")
        out.append("")
    return "\n".join(out) + "\n"


def write(folder: Path) -> None:
    """Write the generated pages."""
    folder.mkdir(exist_ok=True)
    for name, text in (("cli.md", cli()), ("card_schema.md", card_schema())):
        (folder / name).write_text(text, encoding="utf-8")
