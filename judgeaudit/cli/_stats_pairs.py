"""`stats` of tables and of several tests: compare, agreement, corrections, corrected rates."""

from __future__ import annotations

from typing import Annotated

import typer

from judgeaudit.cli import _calculator as calc
from judgeaudit.cli._calculator import NUMBERS, Answer, JsonFlag, Level
from judgeaudit.core.errors import ConfigError

__all__ = ["add_to"]

MOST_TABLES = 5_000_000
"""Tables that an exact test may add up: some seconds and 400 MB."""

_Cells = Annotated[list[str], typer.Argument(metavar="COUNT", help="Counts, in the order named.")]
_PValues = Annotated[
    list[str], typer.Argument(metavar="[NAME=]P", help="p-values, named or in their order.")
]


_BH_HOLDS = (
    "keeps the expected share of false ones among the findings at the level, if tests are "
    "independent or depend positively on each other"
)


def add_to(app: typer.Typer) -> None:
    """Register the verbs."""
    for name, verb in (
        ("compare", _compare),
        ("compare-rates", _compare_rates),
        ("holm", _holm),
        ("bh", _bh),
        ("any-of", _any_of),
        ("agreement", _agreement),
        ("rogan-gladen", _rogan_gladen),
        ("pis", _pis),
    ):
        app.command(name, context_settings=NUMBERS)(verb)


def _counts(texts: list[str], names: tuple[str, ...], why: str) -> list[int]:
    if len(texts) != len(names):
        raise ConfigError(f"{len(texts)} counts were given", mend=why)
    return [calc.whole(name)(text) for name, text in zip(names, texts, strict=True)]


def _compare(counts: _Cells, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Compare two judges, or two dates, on common items: exact McNemar and the difference.

    Counts: BOTH FIRST SECOND NEITHER (items on which both, only the first, only the second or none
    has the event), or FIRST SECOND alone for the test.
    """
    from judgeaudit.stats import paired

    why = "Give BOTH FIRST SECOND NEITHER, or FIRST SECOND for the test alone"
    source = "McNemar 1947, Psychometrika 12"
    formula = "p = min(1, 2 P(Bin(b+c, 1/2) <= min(b, c))), b and c the discordant pairs"
    note = (
        "null: a discordant pair is as likely either way; for items in clusters the test and the "
        "intervals are too sure"
    )
    if len(counts) == 2:
        b, c = _counts(counts, ("FIRST", "SECOND"), why)
        answer = Answer(
            "compare",
            {"first": b, "second": c},
            {"p": paired.mcnemar(b, c), "discordant pairs": b + c},
            formula,
            source,
            (note, "all four counts would give the difference and its interval"),
        )
    else:
        cells = _counts(counts, ("BOTH", "FIRST", "SECOND", "NEITHER"), why)
        table = paired.PairedCounts(*cells)
        if table.n == 0:
            raise ConfigError("all counts are 0", mend="There is no pair to compare")
        newcombe = calc.limits_of(paired.newcombe_paired(table, level=level))
        tango = calc.limits_of(paired.tango(table, level=level))
        answer = Answer(
            "compare",
            dict(zip(("both", "first", "second", "neither"), cells, strict=True))
            | {"level": level},
            {
                "p": paired.mcnemar(table.first, table.second),
                "difference": table.difference,
                **newcombe,
                **{f"{k} (Tango)": v for k, v in tango.items()},
                "rate of the first": (table.both + table.first) / table.n,
                "rate of the second": (table.both + table.second) / table.n,
            },
            f"{formula}; difference (b-c)/n, limits from both Wilson intervals",
            f"{source}; Newcombe 1998, Stat. Med. 17, 2635; Tango 1998, Stat. Med. 17, 891",
            (note,),
        )
    calc.say(answer, as_json=as_json)


def _compare_rates(counts: _Cells, *, level: Level = 0.95, as_json: JsonFlag = False) -> None:
    """Compare two rates of different items: X1 N1 X2 N2, Fisher's exact test."""
    from judgeaudit.stats.two_rates import fisher, newcombe_unpaired

    x1, n1, x2, n2 = _counts(counts, ("X1", "N1", "X2", "N2"), "Give X1 N1 X2 N2")
    calc.events_of(x1, n1, events="X1", trials="N1")
    calc.events_of(x2, n2, events="X2", trials="N2")
    if min(n1, n2, x1 + x2, n1 + n2 - x1 - x2) > MOST_TABLES:
        raise ConfigError(
            f"the exact test would add up more than {MOST_TABLES:,} tables",
            mend="With so many events, compare the intervals of `stats wilson`",
        )
    calc.say(
        Answer(
            "compare-rates",
            {"x1": x1, "n1": n1, "x2": x2, "n2": n2, "level": level},
            {
                "p": fisher(x1, n1, x2, n2),
                "difference": x1 / n1 - x2 / n2,
                **calc.limits_of(newcombe_unpaired(x1, n1, x2, n2, level=level)),
            },
            "sum of the hypergeometric chances of all tables no likelier than this one; limits "
            "from both Wilson intervals",
            "Fisher 1934; Newcombe 1998, Stat. Med. 17, 873",
            ("null: both groups have one rate", "on the same items use compare: it sees more"),
        ),
        as_json=as_json,
    )


def _named(texts: list[str]) -> dict[str, float]:
    out: dict[str, float] = {}
    for number, text in enumerate(texts, 1):
        name, equals, value = text.rpartition("=")
        key = name.strip() if equals else f"test {number}"
        if key in out:
            raise ConfigError(f"two p-values are called {key!r}", mend="Rename one of them")
        out[key] = calc.chance(key or f"test {number}")(value)
    return out


def _holm(p_values: _PValues, *, as_json: JsonFlag = False) -> None:
    """Correct p-values for several tests (risk categories): no false finding, by Holm."""
    from judgeaudit.stats.multiplicity import any_of, holm

    given = _named(p_values)
    calc.say(
        Answer(
            "holm",
            given,
            dict(holm(given)),
            "sorted, p_(i) times (m-i+1), made monotone, at most 1",
            "Holm 1979, Scand. J. Stat. 6",
            (
                "keeps the chance of any false finding at the level, whatever depends on what",
                _any_words(len(given), any_of(len(given))),
            ),
        ),
        as_json=as_json,
    )


def _any_words(m: int, chance: float) -> str:
    return f"uncorrected, {m} independent tests at 5% would find something in {chance:.2f} of cases"


def _bh(p_values: _PValues, *, as_json: JsonFlag = False) -> None:
    """Correct p-values for several tests: few of the findings false, by Benjamini-Hochberg."""
    from judgeaudit.stats.multiplicity import benjamini_hochberg

    given = _named(p_values)
    calc.say(
        Answer(
            "bh",
            given,
            dict(benjamini_hochberg(given)),
            "sorted, p_(i) times m/i, made monotone from the largest",
            "Benjamini and Hochberg 1995, JRSS B 57",
            (_BH_HOLDS,),
        ),
        as_json=as_json,
    )


def _any_of(
    m: Annotated[int, typer.Argument(parser=calc.whole("M", 1), metavar="M", help="Tests.")],
    *,
    alpha: Annotated[
        float, typer.Option(parser=calc.chance("--alpha"), metavar="P", help="Level of each.")
    ] = 0.05,
    as_json: JsonFlag = False,
) -> None:
    """Chance that at least one of M independent tests rejects though none should."""
    from judgeaudit.stats.multiplicity import any_of

    calc.say(
        Answer(
            "any-of",
            {"m": m, "alpha": alpha},
            {"chance of a false finding": any_of(m, alpha), "Bonferroni level": alpha / m},
            "1 - (1-alpha)^m",
            "binomial",
            ("correct with `stats holm`",),
        ),
        as_json=as_json,
    )


def _agreement(counts: _Cells, *, as_json: JsonFlag = False) -> None:
    """Agreement of two raters from a table: BOTH FIRST SECOND NEITHER call an item positive."""
    from judgeaudit.stats.two_raters import misleading, of_table, scott_pi

    names = ("BOTH", "FIRST", "SECOND", "NEITHER")
    cells = _counts(counts, names, "Give BOTH FIRST SECOND NEITHER")
    if sum(cells) == 0:
        raise ConfigError("all counts are 0", mend="There is no item to agree on")
    table = of_table(*cells)
    found = {name: figure.value for name, figure in table.figures.items()}
    calc.say(
        Answer(
            "agreement",
            dict(zip(("both", "first", "second", "neither"), cells, strict=True)),
            {
                "observed agreement": found["observed"],
                "Cohen's kappa": found["kappa"],
                "PABAK": found["pabak"],
                "Gwet's AC1": found["ac1"],
                "Scott's pi": scott_pi(table),
                "Krippendorff's alpha": found["alpha"],
                "positive agreement": found["positive"],
                "negative agreement": found["negative"],
            },
            "P_o = (a+d)/n; (P_o-P_e)/(1-P_e) with each coefficient's P_e (AC1: 2q(1-q)); "
            "PABAK = 2 P_o - 1; PA = 2a/(2a+b+c), NA = 2d/(2d+b+c)",
            "Cohen 1960; Scott 1955; Byrt et al. 1993; Gwet 2008; Krippendorff 2011; Cicchetti and "
            "Feinstein 1990",
            (misleading(table),),
        ),
        as_json=as_json,
    )


def _share(name: str, text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(parser=calc.chance(name), metavar="P", help=text)
    return option


def _rogan_gladen(
    *,
    apparent: Annotated[float, _share("--apparent", "Share of UNSAFE verdicts.")],
    se: Annotated[float, _share("--se", "Sensitivity of the judge.")],
    sp: Annotated[float, _share("--sp", "Specificity of the judge.")],
    as_json: JsonFlag = False,
) -> None:
    """Rate behind an apparent rate, from a sensitivity and specificity that transfer."""
    from judgeaudit.stats.corrected import rogan_gladen_point

    found = rogan_gladen_point(apparent, se, sp)
    youden = se + sp - 1
    calc.say(
        Answer(
            "rogan-gladen",
            {"apparent": apparent, "se": se, "sp": sp},
            {
                "corrected rate": found.value,
                "before clipping": (apparent + sp - 1) / youden if youden > 0 else found.value,
            },
            "(apparent + sp - 1) / (se + sp - 1), clipped to [0, 1]",
            "Rogan and Gladen 1978, Am. J. Epid. 107",
            (
                "brought back into 0 to 1: sensitivity or specificity does not fit this rate"
                if found.clipped
                else None,
                "no interval without the counts: see `judgeaudit correct`",
            ),
        ),
        as_json=as_json,
    )


def _weights(text: object) -> tuple[float, float, float]:
    parts = str(text).split(",")
    if len(parts) != 3:
        raise ConfigError(f"--weights is {text!r}", mend="Give three: 0.4,0.3,0.3")
    first, second, third = (calc.chance("--weights")(p) for p in parts)
    if abs(first + second + third - 1) > 1e-9:
        raise ConfigError(f"--weights is {text!r}", mend="They must add up to 1")
    return first, second, third


def _pis(
    *,
    delta: Annotated[
        float,
        typer.Option(
            parser=calc.real("--delta", -1, 1), metavar="D", help="Excess flip rate, pooled."
        ),
    ],
    direction: Annotated[float, _share("--direction", "Direction ratio.")],
    undue: Annotated[float, _share("--undue", "Undue share of flips.")],
    weights: Annotated[
        str | None, typer.Option(metavar="W,W,W", help="Weights; the paper's: 0.4,0.3,0.3.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Policy Invariance Score from its three parts, and what each part costs."""
    from judgeaudit.metrics.pis import SCALE, WEIGHTS

    w = WEIGHTS if weights is None else _weights(weights)
    parts = (w[0] * delta, w[1] * (1 - direction), w[2] * undue)
    raw = 1 - SCALE * sum(parts)
    calc.say(
        Answer(
            "pis",
            {"delta": delta, "direction": direction, "undue": undue, "weights": list(w)},
            {
                "PIS": max(0.0, raw),
                "before the cut at 0": raw,
                "lost to excess flips": SCALE * parts[0],
                "lost to direction": SCALE * parts[1],
                "lost to undue flips": SCALE * parts[2],
            },
            f"max(0, 1 - {SCALE:g} [w1 delta + w2 (1 - direction) + w3 undue])",
            "arXiv 2605.06161; estimators.md, section 7",
            ("other weights are another score: name them" if weights is not None else None,),
        ),
        as_json=as_json,
    )
