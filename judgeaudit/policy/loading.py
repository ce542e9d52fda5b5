"""Load a policy from the data room or from a file, and check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgeaudit.core.errors import PolicyError, unknown_name
from judgeaudit.core.records import Policy, PolicyException, PolicyFacts
from judgeaudit.core.records.policy import NUMBER, references
from judgeaudit.core.rooms import room
from judgeaudit.policy._toml import Lines, check, parse, place, read_text
from judgeaudit.policy.segment import statements

__all__ = [
    "VERB_FORMS",
    "facts",
    "load_policy",
    "parse_policy",
    "policy_files",
    "policy_names",
    "policy_path",
]

VERB_FORMS: dict[str, tuple[str, ...]] = {
    "en": ("base", "gerund", "participle"),
    "ko": ("base", "infinitive", "adnominal", "prospective"),
}
"""The verb forms that the wordings of a language ask for; Korean: 하다, 하여, 하는, 할."""

OPTIONAL_FORMS: dict[str, tuple[str, ...]] = {"ko": ("passive",)}
"""Forms that not every verb has (되어); a norm without one keeps its active verb."""


def policy_names(language: str = "en") -> list[str]:
    """Return the names of the policies that ship in a language, sorted."""
    return sorted(name for name, languages in _shipped().items() if language in languages)


def _shipped() -> dict[str, list[str]]:
    """Return the languages of what ships: `<id>.toml` is English, `<id>.ko.toml` Korean."""
    found: dict[str, list[str]] = {}
    for path in sorted(room("policies").glob("*.toml")):
        name, _, language = path.stem.partition(".")
        found.setdefault(name, []).append(language or "en")
    return {name: sorted(languages) for name, languages in found.items()}


def policy_path(name_or_path: str | Path, language: str | None = None) -> Path:
    """Return the file of a policy.

    A name (`agent_safety`) is looked up in the data room; anything with a folder or an ending is a
    path.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a policy that ships, or the path of a TOML file.
    language : str, optional
        Which of the texts of a named policy; English by default.

    Raises
    ------
    PolicyError
        If there is no such policy, or not in this language; the message lists the known ones.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or "\\" in text or text.endswith(".toml"):
        path = Path(name_or_path)
        if path.is_dir():
            raise PolicyError("is a folder, not a policy file", where=text, mend="Name the file")
        if not path.is_file():
            raise PolicyError(
                "no such policy file",
                where=text,
                mend=f"Check the path, or use one that ships: {', '.join(policy_names())}",
            )
        return path
    language = language or "en"
    languages = _shipped().get(text)
    if languages is None:
        raise PolicyError(
            unknown_name("policy", text, policy_names(language) or policy_names()),
            mend="For a file of your own give its path",
        )
    if language not in languages:
        raise _no_text(text, language, languages)
    return room("policies") / (f"{text}.toml" if language == "en" else f"{text}.{language}.toml")


def _no_text(name: str, language: str, languages: list[str]) -> PolicyError:
    return PolicyError(
        f"the policy {name!r} has no text in {language!r}",
        mend=f"It has {', '.join(map(repr, languages))}",
    )


def load_policy(name_or_path: str | Path, *, language: str | None = None) -> Policy:
    """Load and check a policy.

    A policy that ships in two languages is two policies with one id: each has its own norms, and
    its own hash.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a policy that ships, or the path of a TOML file.
    language : str, optional
        The language; by default English for a name, and the file's own for a path.

    Raises
    ------
    PolicyError
        If there is no such policy, or it has a wrong key, a wrong type, a duplicate id or a
        missing verb form. The message names file, line and key.
    """
    path = policy_path(name_or_path, language)
    where = str(name_or_path) if str(name_or_path).endswith(".toml") else path.name
    policy = parse_policy(read_text(path), where)
    if language is not None and policy.language != language:
        raise _no_text(policy.id, language, [policy.language])
    return policy


def parse_policy(text: str, where: str) -> Policy:
    """Check a policy that is given as the text of a TOML file.

    Parameters
    ----------
    where : str
        The file's name, for messages.

    Raises
    ------
    PolicyError
        As `load_policy`.
    """
    return check_policy(*parse(text, where), where)


def check_policy(data: dict[str, Any], lines: Lines, where: str) -> Policy:
    """Check a policy that is given as data.

    Raises
    ------
    PolicyError
        As `load_policy`.
    """
    _refuse_duplicates(data, where, lines)
    _refuse_loose_references(data, where, lines)
    policy = check(Policy, data, where, lines)
    _check_verbs(policy, where, lines)
    _check_phrases(policy, where, lines)
    if policy.language == "ko":
        _check_korean_clauses(policy, where, lines)
    return policy


def _refuse_duplicates(data: dict[str, Any], where: str, lines: Lines) -> None:
    """Refuse a duplicate id with both its lines; the record would only say that there is one."""
    groups: list[tuple[str, tuple[str | int, ...], object, str]] = [
        ("norm id", ("norms",), data.get("norms"), "id"),
        ("norm title", ("norms",), data.get("norms"), "title"),
        ("term", ("definitions",), data.get("definitions"), "term"),
    ]
    norms = data.get("norms")
    for i, norm in enumerate(norms if isinstance(norms, list) else []):
        exceptions = norm.get("exceptions") if isinstance(norm, dict) else None
        groups.append(("exception id", ("norms", i, "exceptions"), exceptions, "id"))
        groups.append(("exception", ("norms", i, "exceptions"), exceptions, "when"))
    for what, path, rows, key in groups:
        seen: dict[str, int] = {}
        for i, row in enumerate(rows if isinstance(rows, list) else []):
            value = row.get(key) if isinstance(row, dict) else None
            if not isinstance(value, str):
                continue
            folded = value.casefold()
            if folded in seen:
                first = lines.get((*path, seen[folded], key))
                raise PolicyError(
                    f"{what} {value!r} is there twice"
                    + (f" (first on line {first})" * (first is not None)),
                    where=place(where, (*path, i, key), lines),
                    mend="Change one of them",
                )
            seen[folded] = i


def _refuse_loose_references(data: dict[str, Any], where: str, lines: Lines) -> None:
    """Refuse a reference that leads nowhere, with its line; the record would only say that."""
    rows = data.get("norms")
    norms = [n for n in rows if isinstance(n, dict)] if isinstance(rows, list) else []
    known = [n["id"] for n in norms if isinstance(n.get("id"), str)]
    for i, norm in enumerate(norms):
        at: tuple[str | int, ...] = ("norms", i)
        if norm.get("bearer_plural") is True and "bearer" not in norm:
            raise PolicyError(
                f"norm {norm.get('id')!r} has `bearer_plural` without a `bearer` of its own",
                where=place(where, (*at, "bearer_plural"), lines),
                mend="Name the bearer, or set the policy's `bearer_plural`",
            )
        named = [((*at, "subject_to"), id_) for id_ in _texts(norm.get("subject_to"))]
        if twice := sorted({id_ for _, id_ in named if [x for _, x in named].count(id_) > 1}):
            raise PolicyError(
                f"norm {norm.get('id')!r} is subject to {twice[0]!r} twice",
                where=place(where, named[0][0], lines),
                mend="Remove one of them",
            )
        exceptions = norm.get("exceptions")
        for j, e in enumerate(exceptions if isinstance(exceptions, list) else []):
            for key in ("when", "only_if", "but_not"):
                value = e.get(key) if isinstance(e, dict) else None
                texts = [value] if isinstance(value, str) else _texts(value)
                path = (*at, "exceptions", j, key)
                named += [(path, id_) for text in texts for id_ in references(text)]
        for path, id_ in named:
            if id_ not in known:
                raise PolicyError(unknown_name("norm", id_, known), where=place(where, path, lines))
            if id_ == norm.get("id"):
                raise PolicyError(
                    f"norm {id_!r} refers to itself",
                    where=place(where, path, lines),
                    mend="Remove the reference, or name another norm",
                )


def _texts(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _check_verbs(policy: Policy, where: str, lines: Lines) -> None:
    wanted = VERB_FORMS[policy.language]
    for i, norm in enumerate(policy.norms):
        at = ("norms", i, "action", "verb")
        forms = norm.action.verb
        if missing := [f for f in wanted if f not in forms]:
            raise PolicyError(
                f"the verb of norm {norm.id!r} lacks the form {missing[0]!r}",
                where=place(where, at, lines),
                mend=f"Wordings in {policy.language!r} need {', '.join(wanted)}",
            )
        optional = OPTIONAL_FORMS.get(policy.language, ())
        if extra := sorted(set(forms) - set(wanted) - set(optional)):
            raise PolicyError(
                f"unknown verb form {extra[0]!r} in norm {norm.id!r}",
                where=place(where, (*at, extra[0]), lines),
                mend=f"Wordings in {policy.language!r} use {', '.join((*wanted, *optional))}",
            )


def _check_phrases(policy: Policy, where: str, lines: Lines) -> None:
    """Refuse what would end a sentence in mid-norm: no reader could tell where the norm ends."""
    phrases: list[tuple[tuple[str | int, ...], str]] = [
        (("title",), policy.title),
        (("bearer",), policy.bearer),
        (("scope",), policy.scope),
    ]
    for i, d in enumerate(policy.definitions):
        at: tuple[str | int, ...] = ("definitions", i)
        phrases += [((*at, "term"), d.term), ((*at, "meaning"), d.meaning)]
    unit = policy.threshold.unit or ""
    if unit.count(NUMBER) > (policy.language == "ko"):
        raise PolicyError(
            f"{unit!r} has no place for {NUMBER}",
            where=place(where, ("threshold", "unit"), lines),
            mend="Leave it out; only a Korean unit may hold it, once",
        )
    clauses: list[tuple[tuple[str | int, ...], str]] = [(("threshold", "unit"), unit)]
    for i, n in enumerate(policy.norms):
        at = ("norms", i)
        phrases += [((*at, "title"), n.title), ((*at, "scope"), n.scope)]
        phrases += [((*at, "action", "object"), n.action.object)]
        phrases += [((*at, "action", "rest"), n.action.rest)]
        phrases += [((*at, "bearer"), n.bearer or "")]
        if stray := next((p for _, p in phrases if references(p)), None):
            raise PolicyError(
                f"{stray!r} refers to a norm",
                where=place(where, at, lines),
                mend="Only exceptions may hold a reference; for a norm that prevails name it in "
                "`subject_to`",
            )
        for j, e in enumerate(n.exceptions):
            inside: tuple[str | int, ...] = (*at, "exceptions", j)
            _check_clauses(e, where, inside, lines)
            groups = (("when", (e.when,)), ("only_if", e.only_if), ("but_not", e.but_not))
            clauses += [((*inside, key), c) for key, group in groups for c in group]
    for path, phrase in phrases + clauses:
        if phrase and (phrase[-1] in ".!?:;," or len(statements(f"x {phrase}")) != 1):
            raise PolicyError(
                f"{phrase!r} is not one phrase: a sentence ends in it",
                where=place(where, path, lines),
                mend="Reword it: no full stop, question mark or colon before a blank or at its end",
            )


def _check_clauses(
    exception: PolicyException, where: str, at: tuple[str | int, ...], lines: Lines
) -> None:
    """Refuse a clause that stands twice in one exception, and brackets that are left open."""
    folded = [c.casefold() for c in exception.clauses]
    for key, clauses in (("only_if", exception.only_if), ("but_not", exception.but_not)):
        for clause in clauses:
            if folded.count(clause.casefold()) > 1:
                raise PolicyError(
                    f"the clause {clause!r} is there twice in exception {exception.id!r}",
                    where=place(where, (*at, key), lines),
                    mend="Change one of them",
                )
    for clause in exception.clauses:
        if clause.count("(") != clause.count(")"):
            raise PolicyError(
                f"the brackets in {clause!r} do not match",
                where=place(where, at, lines),
                mend="Close what is opened, and nothing else",
            )


def _check_korean_clauses(policy: Policy, where: str, lines: Lines) -> None:
    """Refuse a condition that cannot stand before 경우: wordings put that word behind it."""
    for i, norm in enumerate(policy.norms):
        for j, exception in enumerate(norm.exceptions):
            keys = ["when", *["only_if"] * len(exception.only_if)]
            keys += ["but_not"] * len(exception.but_not)
            for key, clause in zip(keys, exception.clauses, strict=True):
                last = clause[-1]
                adnominal = "가" <= last <= "힣" and (ord(last) - ord("가")) % 28 in {4, 8}
                if not adnominal or "경우" in clause:
                    raise PolicyError(
                        f"{clause!r} cannot stand before '경우'",
                        where=place(where, ("norms", i, "exceptions", j, key), lines),
                        mend="End the clause in an adnominal form (…한, …는, …인), without 경우",
                    )


def facts(policy: Policy) -> PolicyFacts:
    """Return what a card says of a policy."""
    return PolicyFacts(
        id=policy.id,
        title=policy.title,
        sha256=policy.sha256,
        n_norms=len(policy.norms),
        n_exceptions=sum(len(n.exceptions) for n in policy.norms),
        language=policy.language,
        source=_source(policy),
    )


def _source(policy: Policy) -> str:
    draft = policy.draft
    if draft is None:
        return policy.source
    by = f"confirmed by {draft.confirmed_by}" if draft.confirmed else "confirmed by nobody"
    return "; ".join(s for s in (policy.source, f"drafted by {draft.model}, {by}") if s)


def is_edited(policy: Policy) -> bool:
    """Say whether a policy bears the id of one that ships, and is none of its texts.

    Examples
    --------
    >>> policy = load_policy("agent_safety")
    >>> is_edited(policy), is_edited(policy.model_copy(update={"norms": policy.norms[1:]}))
    (False, True)
    """
    languages = _shipped().get(policy.id, [])
    return bool(languages) and all(
        load_policy(policy.id, language=language).sha256 != policy.sha256 for language in languages
    )


def policy_files() -> list[Path]:
    """Return the files of the policies that ship, sorted: one a policy and language."""
    return sorted(room("policies").glob("*.toml"))
