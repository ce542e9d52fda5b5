"""Make a rating sheet: which pairs, in which order, as which files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_of, sha256_text, stable_seed
from judgeaudit.core.records import Condition, Policy, Rendering
from judgeaudit.policy.rating.page import page
from judgeaudit.policy.rating.planting import plant
from judgeaudit.policy.rating.records import RatedPair, Sheet
from judgeaudit.policy.rating.tables import sheet_table

__all__ = ["KEY", "PAGE", "TABLE", "make_sheet", "pairs_of_policy", "write_sheet"]

KEY: Final = "key.json"
PAGE: Final = "sheet.html"
TABLE: Final = "sheet.csv"

Rated = tuple[Rendering, Condition]
"""A rendering that people are to certify, and its condition."""


def pairs_of_policy(
    policy: Policy, conditions: Sequence[str] | None = None, *, wordings: int = 1
) -> tuple[Rendering, list[Rated]]:
    """Return the base rendering of a policy and the renderings that people can certify.

    Parameters
    ----------
    conditions : sequence of str, optional
        By default all of kind certified and near.
    wordings : int
        Wordings of each; equal texts are left out.

    Raises
    ------
    PolicyError
        If a condition is not known.
    """
    from judgeaudit.policy.rendering import render
    from judgeaudit.policy.transforms import find_transform, load_conditions

    ids = conditions or [
        c.id for c in load_conditions().values() if c.kind in ("certified", "near")
    ]
    base = render(policy, "base", language=policy.language)
    return base, [
        (
            render(policy, id_, language=policy.language, wording=w),
            find_transform(id_).condition,
        )
        for id_ in ids
        for w in range(wordings)
    ]


def make_sheet(
    base: Rendering,
    rated: Iterable[Rated],
    *,
    policy: Policy | None,
    planted: int = 3,
    own_wrong: Sequence[str] = (),
    seed: int = 0,
) -> Sheet:
    """Lay out a rating sheet.

    Parameters
    ----------
    base : Rendering
        The original.
    rated : iterable of (Rendering, Condition)
        Rewrites that are meant to keep all six dimensions.
    policy : Policy, optional
        What the texts state, where it is known as data; the planted wrong rewrites are made
        from it.
    planted : int
        Number of wrong rewrites, besides `own_wrong`.
    own_wrong : sequence of str
        Texts that the user knows to be wrong.
    seed : int
        Orders the pairs and picks the planted ones.

    Raises
    ------
    PolicyError
        If a condition moves a dimension on purpose, nothing is left to rate, or no wrong rewrite
        can be made.
    """
    real: list[tuple[Rendering, Condition]] = []
    seen = {base.text}
    for rendering, condition in rated:
        if condition.kind not in ("certified", "near"):
            raise PolicyError(
                f"condition {condition.id!r} ({condition.kind}) cannot be certified",
                mend="Only certified and near ones are meant to keep all six dimensions",
            )
        if rendering.text not in seen:
            seen.add(rendering.text)
            real.append((rendering, condition))
    if not real:
        raise PolicyError(
            "there is nothing to rate: every rewrite has the text of the original",
            mend="Name other conditions, or more wordings",
        )
    wrong = plant(
        [(r.text, policy) for r, _ in real],
        n=planted,
        seed=seed,
        taken=frozenset({*seen, *own_wrong}),
    )
    pairs = [_pair(base, r, c, seed) for r, c in real]
    for index, mutant in wrong:
        r, c = real[index]
        changed = r.model_copy(update={"text": mutant.text, "sha256": sha256_text(mutant.text)})
        pair = _pair(base, changed, c, seed)
        update = {"planted": mutant.operator, "expected": mutant.dimension}
        pairs.append(pair.model_copy(update=update))
    for text in own_wrong:
        r, c = real[0]
        changed = r.model_copy(update={"text": text, "sha256": sha256_text(text)})
        pairs.append(_pair(base, changed, c, seed).model_copy(update={"planted": "your own"}))
    if len(pairs) == len(real):
        raise PolicyError(
            "no wrong rewrite could be made for the attention checks",
            mend="Give texts of your own that are wrong on purpose (kind 'planted')",
        )
    # by hash first: the order that came in must not show through a weak shuffle
    pairs.sort(key=lambda p: p.id)
    random.Random(stable_seed("order", seed, base.sha256)).shuffle(pairs)  # noqa: S311
    return Sheet(
        policy_id=base.policy_id, policy_sha256=base.policy_sha256, seed=seed, pairs=tuple(pairs)
    )


def _pair(base: Rendering, r: Rendering, c: Condition, seed: int) -> RatedPair:
    return RatedPair(
        id="p" + sha256_of([seed, base.sha256, r.sha256])[:9],
        original=base.text,
        rewrite=r.text,
        original_sha256=base.sha256,
        rewrite_sha256=r.sha256,
        condition=c.id,
        kind=c.kind,
        language=r.language,
        wording=r.wording,
    )


def write_sheet(sheet: Sheet, folder: Path) -> dict[str, Path]:
    """Write the page, the table and the organiser's key; return them by name.

    Raises
    ------
    PolicyError
        If the folder holds the key of another sheet: its votes could not be read any more.
    """
    from judgeaudit.policy.rating.files import load_sheet, save

    key = folder / KEY
    if key.exists():
        old = load_sheet(key)
        if old.sha256 != sheet.sha256:
            raise PolicyError(
                f"the folder holds another rating sheet ({old.name})",
                where=str(folder),
                mend="Choose another folder, or remove it: its votes could not be read any more",
            )
    folder.mkdir(parents=True, exist_ok=True)
    save(sheet, key)
    writers: dict[str, Callable[[Sheet], str]] = {PAGE: page, TABLE: sheet_table}
    for name, write in writers.items():
        (folder / name).write_bytes(write(sheet).encode("utf-8"))
    return {name: folder / name for name in (PAGE, TABLE, KEY)}
