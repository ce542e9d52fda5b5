"""A ledger's rows as JSON lines or as Parquet, a page at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

from judgeaudit.core.errors import ConfigError, LedgerError, unknown_name
from judgeaudit.engine.rebuild import side_file
from judgeaudit.engine.view import LedgerView

__all__ = ["FORMATS", "export", "write_lines"]

FORMATS: Final = ("jsonl", "parquet")

_GROUP: Final = 20_000
_TYPES: Final = {
    "position": "int64",
    "wording": "int32",
    "repeat": "int32",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "attempts": "int32",
    "confidence": "double",
    "cost": "double",
    "seconds": "double",
}


def export(
    view: LedgerView,
    target: Path,
    form: str,
    *,
    item: str | None = None,
    condition: str | None = None,
) -> int:
    """Write one row a planned call to a file; return how many.

    Parameters
    ----------
    view : LedgerView
        The ledger.
    target : Path
        Replaced once the new file is whole.
    form : {"jsonl", "parquet"}
        JSON lines are ASCII, with every character of an answer; Parquet cannot hold half a
        surrogate pair, which is written as an escape there.
    item, condition : str, optional
        Only this item, only this condition.

    Raises
    ------
    ConfigError
        If the form is unknown, or the ledger has no such item or condition.
    LedgerError
        If the file cannot be written.
    """
    if form not in FORMATS:
        raise ConfigError(unknown_name("format", form, list(FORMATS)))
    if (item or condition) and not view.positions(item=item, condition=condition).size:
        asked = " and ".join(
            f"{k} {v!r}" for k, v in (("item", item), ("condition", condition)) if v
        )
        raise ConfigError(f"the ledger has no call with {asked}", where=str(view.path))
    rows = view.rows(item=item, condition=condition)
    side = side_file(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if form == "jsonl":
            with side.open("w", encoding="ascii", newline="\n") as out:
                n = write_lines(rows, out)
                out.flush()
                os.fsync(out.fileno())
        else:
            n = _write_parquet(rows, side)
        side.replace(target)
    except OSError as error:
        raise LedgerError(
            f"the file cannot be written ({error.strerror or error})", where=str(target)
        ) from error
    finally:
        with suppress(OSError):
            side.unlink(missing_ok=True)
    return n


def write_lines(rows: Iterator[dict[str, Any]], out: TextIO) -> int:
    """Write rows as JSON lines; return how many."""
    n = 0
    for row in rows:
        out.write(json.dumps(row) + "\n")
        n += 1
    return n


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from judgeaudit.engine.view import NAMES

    schema = pa.schema([(name, getattr(pa, _arrow(name))()) for name in NAMES])
    n = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while page := list(islice(rows, _GROUP)):
            columns = [[_whole(row[name]) for row in page] for name in NAMES]
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            n += len(page)
    return n


def _arrow(name: str) -> str:
    kind = _TYPES.get(name, "string")
    return {"double": "float64"}.get(kind, kind)


def _whole(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value
