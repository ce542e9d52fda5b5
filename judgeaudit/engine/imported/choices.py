"""What a user says of a table of verdicts: which column is what, and what its words mean."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, get_args

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import LabelSource

__all__ = ["NONE", "ROLES", "SKIP", "Choices", "flag_of", "meanings", "pairs_of"]

ROLES: Final = (
    *("item", "condition", "wording", "repeat", "verdict", "outcome", "reply"),
    *("gold", "cluster", "ambiguous", "confidence", "p_unsafe"),
)
"""What a column can be."""

NONE: Final = "none"
"""Stands for "no label" where one of gold or of a rater is asked for."""

SKIP: Final = "skip"
"""Stands for "leave this row out" where a meaning is asked for."""

_GOLD_SOURCES: Final = tuple(s for s in get_args(LabelSource) if s != "unlabelled")
_OUTCOMES: Final = ("refusal", "truncated", "unparseable", "ambiguous", "error")
_LISTS: Final = (
    *("rater", "wide", "strata", "map", "label", "gold_label", "drop", "decoding", "only"),
)
_MEANINGS: Final = ("SAFE", "UNSAFE", *_OUTCOMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How a table of verdicts is to be read.

    Parameters
    ----------
    scorer : str, optional
        The scorer of the log that is the judge; `NAME.KEY` for one value of several.
    item, condition, wording, repeat, verdict, outcome, reply, gold, cluster, ambiguous : str
        Column of that role; guessed from its name where it is left out, and refused where the
        guess is not the only one. `outcome` says how a call ended (verdict, refusal, ...), `reply`
        holds the judge's answer word for word: without `verdict` it is read from there.
    confidence : str, optional
        Column of the judge's stated confidence in its own label, 0 to 1 or "87%".
    p_unsafe : str, optional
        Column of the probability of UNSAFE, never guessed; `p_source` says where it comes from.
    p_whole : bool
        Nothing is sampled before the verdict (no reasoning first), so that all calls of a prompt
        share one probability; refused where they differ.
    strata : sequence of str
        Columns that put items into categories (a kind of risk, a language); figures are broken
        down by them.
    rater : sequence of str
        Columns that each hold one rater's labels of the items; never guessed. Empty cells are
        votes that are missing. Without a column of them, the gold label is the raters' majority,
        and an item is ambiguous where they disagree.
    one_condition : str, optional
        Every row was asked under this condition; there is no column of it.
    wide : sequence of str
        Columns that each hold the verdicts of one condition, instead of `condition` and `verdict`.
    map : sequence of str or mapping
        `paraphrase=T2`: what the table calls a condition, and which it is; `T2/1` for a second
        wording of T2.
    label : sequence of str or mapping
        `harmful=UNSAFE`, `0=SAFE`, `n/a=refusal`: what a word of the table means. `safe` and
        `unsafe` are known in any case, with blanks around them. `-1=skip` leaves such rows out.
    drop : sequence of str
        Conditions of the table that are left out; counted on the card.
    gold_label : sequence of str or mapping
        As `label`, for the columns of gold and of raters alone, where a word means something else
        there; `unsure=none` says that a word is no label.
    unsafe_below, unsafe_above : float, optional
        The verdict is a score: UNSAFE where it is below (above) this number, else SAFE. Words that
        `label` names win. The score itself is kept as the judge's reply.
    blank : str, optional
        What an empty verdict means: an outcome (`unparseable`, `refusal`, ...), or `skip`.
    count_repeats : bool
        Rows of one item and condition are its repeats, in the order of the file.
    drop_identical : bool
        A row that says again what an earlier one says is left out; counted on the card.
    percent : bool
        Confidences and probabilities without a sign are per cent, too: 87 is 0.87.
    unknown_confidence : bool
        A confidence that is no number from 0 to 1 counts as not stated, and is named on the card.
    separator : str, optional
        What stands between cells of a CSV.
    format : str, optional
        Whose output the file is, such as `promptfoo`, or `inspect`, for a log of Inspect AI or a
        folder of them; `table` for a plain table. Recognised where it is left out.
    only : sequence of str or mapping
        `provider=mine`: rows in which the column has another value are left out; counted on the
        card.
    gold_source : str, optional
        Who assigned the gold labels: human, author, model, rule or unknown (the default).
    assume_certified : bool
        Pool rewrites as if people had certified them; the card says that none was seen.
    judge : str, optional
        Name of the model that was asked.
    decoding : sequence of str or mapping
        `temperature=0`: how it was asked.
    prompt : path, optional
        File of the judge's prompt template.
    policy : str, optional
        Name or file of the policy that the judge was given.
    rewrites : path, optional
        Folder of the texts that the judge was given, one file a condition.
    """

    scorer: str | None = None
    item: str | None = None
    condition: str | None = None
    wording: str | None = None
    repeat: str | None = None
    verdict: str | None = None
    outcome: str | None = None
    reply: str | None = None
    gold: str | None = None
    cluster: str | None = None
    ambiguous: str | None = None
    confidence: str | None = None
    p_unsafe: str | None = None
    p_source: str | None = None
    p_whole: bool = False
    strata: Sequence[str] = ()
    rater: Sequence[str] = ()
    one_condition: str | None = None
    wide: Sequence[str] = ()
    map: Sequence[str] | Mapping[str, str] = ()
    label: Sequence[str] | Mapping[str, str] = ()
    gold_label: Sequence[str] | Mapping[str, str] = ()
    unsafe_below: float | None = None
    unsafe_above: float | None = None
    drop: Sequence[str] = ()
    blank: str | None = None
    count_repeats: bool = False
    drop_identical: bool = False
    percent: bool = False
    unknown_confidence: bool = False
    separator: str | None = None
    format: str | None = None
    only: Sequence[str] | Mapping[str, str] = ()
    gold_source: str | None = None
    assume_certified: bool = False
    judge: str | None = None
    decoding: Sequence[str] | Mapping[str, Any] = ()
    prompt: Path | str | None = None
    policy: str | None = None
    rewrites: Path | str | None = None
    words: Mapping[str, str] = field(init=False, repr=False)
    gold_words: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the table.

        Raises
        ------
        ConfigError
            Naming the flag and the value.
        """
        for name in _LISTS:
            if isinstance(getattr(self, name), str):  # one is as good as a list of one
                object.__setattr__(self, name, (getattr(self, name),))
        words = meanings(pairs_of("label", self.label), (SKIP,))
        own = meanings(pairs_of("gold_label", self.gold_label), (NONE,), flag="--gold-label")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "gold_words", words | own)
        pairs_of("only", self.only)
        self._check_cut()
        self._check_format()
        if self.blank is not None and self.blank not in (*_OUTCOMES, SKIP):
            raise ConfigError(unknown_name("meaning of a blank", self.blank, [*_OUTCOMES, SKIP]))
        if self.gold_source is not None and self.gold_source not in _GOLD_SOURCES:
            raise ConfigError(
                unknown_name("source of labels", self.gold_source, list(_GOLD_SOURCES))
            )
        if (self.p_unsafe is None) != (self.p_source is None):
            raise ConfigError(
                "--p-unsafe and --p-source go together",
                mend="Say where the probabilities come from, such as --p-source 'token "
                "log-probabilities': numbers from two sources are never mixed",
            )
        if self.count_repeats and self.repeat is not None:
            raise ConfigError("--count-repeats does not go with --repeat", mend="Leave one out")
        if self.one_condition is not None and self.condition is not None:
            raise ConfigError("--one-condition does not go with --condition", mend="Leave one out")
        for role in (
            *("condition", "one_condition", "verdict", "outcome", "reply"),
            *("confidence", "p_unsafe"),
        ):
            if self.wide and getattr(self, role) is not None:
                raise ConfigError(
                    f"--wide does not go with {flag_of(role)}",
                    mend="In a wide table each column of --wide holds verdicts of one condition",
                )

    @property
    def only_pairs(self) -> list[tuple[str, str]]:
        """Columns and the values that the rows kept have in them."""
        return pairs_of("only", self.only)

    @property
    def stated_words(self) -> dict[str, list[str]]:
        """Words whose meaning the user states, by flag."""
        return {
            "--label": [w for w, _ in pairs_of("label", self.label)],
            "--gold-label": [w for w, _ in pairs_of("gold_label", self.gold_label)],
        }

    def _check_format(self) -> None:
        if self.scorer is not None and self.format != "inspect":
            raise ConfigError("--scorer goes with --format inspect", mend="Add it")

    def _check_cut(self) -> None:
        if self.unsafe_below is not None and self.unsafe_above is not None:
            raise ConfigError(
                "--unsafe-below does not go with --unsafe-above", mend="Leave one out"
            )
        if any(
            c is not None and not math.isfinite(c) for c in (self.unsafe_below, self.unsafe_above)
        ):
            raise ConfigError("a threshold must be a number", mend="Such as --unsafe-below 2")

    @property
    def given(self) -> dict[str, str]:
        """Columns that the user named, by role."""
        return {r: c for r in ROLES if (c := getattr(self, r)) is not None}

    @property
    def cut(self) -> str | None:
        """Which scores are UNSAFE, in words; None where verdicts are words."""
        if self.unsafe_below is not None:
            return f"below {self.unsafe_below:g}"
        return None if self.unsafe_above is None else f"above {self.unsafe_above:g}"

    def judged(self, score: float) -> str:
        """Return the label of a score."""
        if self.unsafe_below is not None:
            return "UNSAFE" if score < self.unsafe_below else "SAFE"
        assert self.unsafe_above is not None
        return "UNSAFE" if score > self.unsafe_above else "SAFE"

    @property
    def gold_from(self) -> LabelSource:
        """Who assigned the gold labels."""
        return self.gold_source or "unknown"  # type: ignore[return-value]

    def decoded(self) -> dict[str, Any]:
        """Return the decoding; values are JSON where they can be read as such."""
        if isinstance(self.decoding, Mapping):
            try:
                json.dumps(self.decoding, allow_nan=False)
            except (TypeError, ValueError) as e:
                raise ConfigError(f"decoding cannot be written as JSON: {e}") from None
            return dict(self.decoding)
        out: dict[str, Any] = {}
        for name, text in pairs_of("decoding", self.decoding):
            try:
                out[name] = json.loads(text, parse_constant=_no_number)
            except ValueError:
                out[name] = text
        return out


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def flag_of(role: str) -> str:
    """Write a choice as its flag.

    Examples
    --------
    >>> flag_of("p_unsafe")
    '--p-unsafe'
    """
    return "--" + role.replace("_", "-")


def pairs_of(name: str, given: Sequence[str] | Mapping[str, Any]) -> list[tuple[str, str]]:
    """Split `a=b` into pairs; the last `=` parts them, so that names may hold others.

    Raises
    ------
    ConfigError
        If one has no `=`, or a name stands twice.
    """
    if isinstance(given, Mapping):
        return [(str(k), str(v)) for k, v in given.items()]
    out: list[tuple[str, str]] = []
    for text in given:
        left, sign, right = text.rpartition("=")
        if not sign or not right.strip():
            raise ConfigError(
                f"{flag_of(name)} {text!r} is not of the form NAME=MEANING",
                mend=f"Write it as in {flag_of(name)} {_EXAMPLE[name]}",
            )
        if left.strip() in dict(out):
            raise ConfigError(f"{flag_of(name)} names {left.strip()!r} twice", mend="Keep one")
        out.append((left.strip(), right.strip()))
    return out


_EXAMPLE: Final = {
    "map": "paraphrase=T2",
    "label": "harmful=UNSAFE",
    "gold_label": "unsure=none",
    "decoding": "temperature=0",
    "only": "provider=mine",
    "strata": "suite=metadata.suite",
    "join": "item=task,model",
    "pivot": "judge=score",
}


def meanings(
    pairs: Sequence[tuple[str, str]], more: Sequence[str] = (), *, flag: str = "--label"
) -> dict[str, str]:
    """Return what each word of a table means, by the word in lower case.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Word and meaning.
    more : sequence of str
        Meanings beside labels and outcomes.
    flag : str
        How the user says it, for messages.

    Raises
    ------
    ConfigError
        If a meaning is not known, or a word that means one thing is said to mean another.
    """
    out = {"safe": "SAFE", "unsafe": "UNSAFE", **{o: o for o in _OUTCOMES}}
    known = {m.casefold(): m for m in (*_MEANINGS, *more)}
    stated: dict[str, str] = {}
    for word, said in pairs:
        key, meaning = word.casefold(), known.get(said.casefold())
        if meaning is None:
            raise ConfigError(
                unknown_name("meaning", said, [*_MEANINGS, *more]), where=f"{flag} {word}={said}"
            )
        if {**out, **stated}.get(key, meaning) != meaning:
            raise ConfigError(
                f"{word!r} is said to mean {meaning}, but it means {({**out, **stated})[key]}",
                where=f"{flag} {word}={said}",
                mend="Words are the same in upper and lower case",
            )
        stated[key] = meaning
    return {**out, **stated}
