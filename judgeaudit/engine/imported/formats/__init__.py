"""Outputs of other tools as tables of verdicts. One file a format; others through entry points."""

from judgeaudit.engine.imported.formats.base import (
    FORMATS,
    TABLE,
    Asked,
    Place,
    Rows,
    VerdictFormat,
    first_of,
    found_format,
    lines_of,
    sheet_of,
    text_of_answer,
)

__all__ = [
    "FORMATS",
    "TABLE",
    "Asked",
    "Place",
    "Rows",
    "VerdictFormat",
    "first_of",
    "found_format",
    "lines_of",
    "sheet_of",
    "text_of_answer",
]
