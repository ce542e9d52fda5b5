"""Take the plan over from a damaged ledger, and know whether it is what was planned."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.rebuild import Rebuild
from judgeaudit.engine.verify import wrong_plan
from judgeaudit.engine.view import LedgerView

__all__ = ["take_plan"]


def take_plan(made: Rebuild, db: sqlite3.Connection, damaged: Path, plan: Path | None) -> None:
    """Take a plan over from a damaged ledger, or from a whole one of the same run.

    Raises
    ------
    LedgerError
        If it is damaged and no other was given, or the other is of another run.
    """
    if plan is not None:
        with LedgerView(plan) as other:
            _check_same(db, other, damaged)
            made.plan(other.connection)
        return
    why = "it cannot be read"
    try:
        made.plan(db)
        why = _bad_text(made.db) or _bad_plan(made.db) or _bad_settings(made.db) or ""
    except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError) as error:
        why = str(error).partition("\n")[0]
    if why:
        raise LedgerError(
            f"the part that says what was planned is damaged ({why})",
            where=str(damaged),
            mend="Begin the same run in another folder (--out, with --budget-calls 1) and give its "
            "ledger as --plan",
        )


def _check_same(db: sqlite3.Connection, other: LedgerView, damaged: Path) -> None:
    try:
        (known,) = db.execute("SELECT value FROM meta WHERE key = 'plan_sha256'").fetchone()
    except (sqlite3.DatabaseError, TypeError):
        return  # damaged there: the user vouches for it
    if json.loads(plain_text(known)) != other.plan_sha256:
        raise LedgerError(
            f"it is of another plan than {other.path}",
            where=str(damaged),
            mend="Give a ledger of the same run as --plan",
        )


def _bad_text(db: sqlite3.Connection) -> str | None:
    for number, digest, body in db.execute("SELECT id, sha256, body FROM parts"):
        if sha256_text(plain_text(body)) != digest.hex():
            return f"text {number} is not what its hash says"
    return None


def _bad_plan(db: sqlite3.Connection) -> str | None:
    calls, last = db.execute("SELECT count(*), coalesce(max(position), -1) FROM calls").fetchone()
    if calls != last + 1:
        return f"{last + 1 - calls} calls are missing"
    for table, column, of in (
        ("calls", "cell", "cells"),
        ("cells", "item", "items"),
        ("cells", "col", "columns"),
        ("items", "trajectory", "parts"),
        ("columns", "rendering", "parts"),
    ):
        sql = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {of})"  # noqa: S608
        (loose,) = db.execute(sql).fetchone()
        if loose:
            return f"{loose} rows of {table} have lost their {of}"
    return None


def _bad_settings(db: sqlite3.Connection) -> str | None:
    try:
        values = {k: json.loads(plain_text(v)) for k, v in db.execute("SELECT * FROM meta")}
        meta = RunMeta.from_values(values)
        wrong = wrong_plan(db, meta.judge.sha256, str(values["plan_sha256"]))
    except (KeyError, TypeError, ValueError) as error:
        return f"its settings cannot be read: {str(error).partition(chr(10))[0]}"
    return wrong[0] if wrong else None
