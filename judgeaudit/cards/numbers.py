"""A card's numbers as tables for other programs: CSV, and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from judgeaudit.cards.assemble import cleaned
from judgeaudit.cards.clean import one_line, shorten
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard
from judgeaudit.cards.texts_en import METRICS
from judgeaudit.cards.voiding import void
from judgeaudit.cards.words import ends, estimate, interval, joined
from judgeaudit.core.records import Score

__all__ = ["csv_cell", "latex_text", "to_csv", "to_latex"]

# What makes Excel, LibreOffice or Google Sheets read a cell as a formula, the full-width forms
# that some of them fold among it; they skip blanks and quotes before it.
_FORMULA: Final = re.compile(r"^[\s'\"]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212|%]")

_COLUMNS: Final = (
    *("metric", "condition", "stratum", "treatment", "value", "low", "high", "level"),
    *("numerator", "denominator", "n_items", "n_clusters", "p_value", "p_adjusted"),
    *("unit", "better", "method", "p_method", "null", "why_undefined", "why_no_interval", "note"),
)
_ABOUT: Final = ("judge", "judge_sha256", "protocol_sha256", "ledger_sha256", "stance", "serious")


def csv_cell(text: str) -> str:
    r"""Make a text a cell that no spreadsheet reads as a formula.

    Examples
    --------
    >>> csv_cell('=cmd|" /C calc"!A0'), csv_cell("T4"), csv_cell(" +1")
    ('\'=cmd|" /C calc"!A0', 'T4', "'+1")
    """
    text = one_line(text)
    return f"'{text}" if _FORMULA.match(text) else text


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return repr(value)  # a number of ours: the minus sign of one is no formula
    return csv_cell(str(value))


def _serious(card: JudgeCard) -> list[str]:
    return [w.code for w in card.warnings if w.severity == "serious"]


def to_csv(card: JudgeCard) -> str:
    """Write every score of a card as one row of a CSV.

    Whose they are, the verdict and the serious warnings stand on each row: a table that is
    copied must not lose them. A text that a spreadsheet would read as a formula is preceded by
    an apostrophe.

    Returns
    -------
    str
        RFC 4180, but for line ends (a line feed); numbers as in the JSON, empty where undefined.
    """
    card = cleaned(card)
    facts = card.facts
    about = [
        *(facts.judge.model, facts.judge_sha256, facts.protocol_sha256, facts.ledger_sha256),
        *(card.headline.stance, " ".join(_serious(card))),
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_COLUMNS, *_ABOUT))
    for s in card.scores.scores:
        row = [getattr(s, name) for name in _COLUMNS]
        writer.writerow([*map(_written, row), *map(_written, about)])
    return out.getvalue()


_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "%": r"\%",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"{'}",
    "`": r"\textasciigrave{}",
    "-": r"{-}",
    "[": r"{[}",
    "]": r"{]}",
    "*": r"{*}",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{PLUS-MINUS SIGN}": r"\ensuremath{\pm}",
    "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\leq}",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\geq}",
    "\N{RIGHTWARDS ARROW}": r"\ensuremath{\rightarrow}",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
    "\N{MIDDLE DOT}": r"\textperiodcentered{}",
    "\N{NO-BREAK SPACE}": "~",
}
# letters that every LaTeX of today knows in UTF-8 without a package
_LATIN: Final = re.compile(r"[À-ÖØ-öø-ÿŁłŒœŠšŽž]")


def latex_text(text: str) -> str:
    r"""Escape a text so that LaTeX sets it as it is, on one line.

    Letters of other scripts, which stop a run of pdfLaTeX, are spelt out by their number.

    Examples
    --------
    >>> latex_text("50% of a_b")
    '50\\% of a\\_b'
    >>> latex_text("é\uac00")
    'é{[}U+AC00{]}'
    """
    out = []
    for char in one_line(text):
        if char in _LATEX:
            out.append(_LATEX[char])
        elif char.isascii() or _LATIN.match(char):
            out.append(char)
        else:
            out.append(f"{{[}}U+{ord(char):04X}{{]}}")
    return "".join(out)


def _place(f: Figures, s: Score) -> str:
    parts = [s.condition or "", s.stratum or ""]
    if s.treatment != f.facts.protocol.headline_treatment:
        parts.append(f"failures: {s.treatment}")
    return shorten(", ".join(p for p in parts if p), 60)


def to_latex(card: JudgeCard) -> str:
    r"""Write the numbers of a card as a `longtable` of LaTeX, with the packages of TeX Live alone.

    Undefined figures stand with their reason, and the verdict and the serious warnings stand
    under the table.

    Returns
    -------
    str
        To be `\input`; needs `longtable`, `booktabs`, and `\usepackage[T1]{fontenc}`.
    """
    card = cleaned(card)
    f = Figures(card.facts, card.scores)
    lines = [
        r"% needs \usepackage{longtable,booktabs} and \usepackage[T1]{fontenc}",
        r"\begin{longtable}{p{.27\linewidth}p{.2\linewidth}p{.2\linewidth}p{.15\linewidth}r}",
        rf"\caption{{Judge Card of {latex_text(shorten(card.facts.judge.model, 90))}}}\\",
        r"\toprule",
        r"Figure & Condition & Estimate & Interval & Items\\",
        r"\midrule\endhead",
        r"\bottomrule\endfoot",
    ]
    for s in card.scores.scores:
        known = METRICS.get(s.metric)
        cells = (
            known.title if known else shorten(s.metric, 60),
            _place(f, s),
            shorten(estimate(s), 160),
            interval(s) if ends(s) is not None else "none",
            f"{s.n_items:,}",
        )
        # \relax: what begins with a bracket is not taken for an argument of the row's end
        lines.append(r"\relax " + " & ".join(map(latex_text, cells)) + r"\\")
    lines += [r"\end{longtable}", "", r"\noindent " + latex_text(card.headline.sentence)]
    if why := void(f):
        lines += ["", r"\noindent " + latex_text(why)]
    warned = [w.sentence for w in card.warnings if w.severity == "serious"]
    if warned:
        lines += ["", r"\noindent\textbf{Serious:} " + latex_text(" ".join(warned))]
    made = joined([f"ledger {card.facts.ledger_sha256[:16]}", f"made {card.created}"])
    lines += ["", r"\noindent\footnotesize " + latex_text(made) + r"\normalsize", ""]
    return "\n".join(lines)
