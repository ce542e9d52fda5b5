"""What becomes of trajectories that are longer than a judge takes: refused, or cut with a mark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, Item, JudgeSpec, JudgeTemplate, Rendering
from judgeaudit.corpora.base import Corpus
from judgeaudit.engine.meter import answer_cap
from judgeaudit.judges import _choice as choice
from judgeaudit.policy.shortening import middle_out, text_tokens, trajectory_tokens

__all__ = ["KEY", "fitted"]

KEY: Final = "too_long"
"""Where a ledger remembers it, beside its records."""

_ANSWER: Final = 512
_NAMED: Final = 3
# tokens are estimated, and of code and of other scripts there are more than the estimate says
_SAFE: Final = 0.75


def fitted(
    spec: AuditSpec,
    judge: JudgeSpec,
    template: JudgeTemplate,
    renderings: Iterable[Rendering],
    corpus: Corpus,
) -> tuple[Corpus, dict[str, Any]]:
    """Return a corpus of which each trajectory fits, and what the ledger remembers of that.

    Parameters
    ----------
    spec : AuditSpec
        `too_long`, `max_trajectory_tokens`.
    judge : JudgeSpec
        Whose context may be known.
    template : JudgeTemplate
        The prompt around policy and trajectory.
    renderings : iterable of Rendering
        All texts: the longest counts, so that an item is cut alike under each.
    corpus : Corpus
        Its facts stay those of the data.

    Raises
    ------
    ConfigError
        If some do not fit and are not to be cut; or the prompt alone fills the judge's context.
    """
    limit = _limit(spec, judge, template, renderings)
    if limit is None:
        if spec.too_long is not None:
            raise ConfigError(
                f"how long a trajectory {spec.judge!r} takes is not known",
                mend="Say it with --max-trajectory-tokens, or leave --too-long out",
            )
        return corpus, {}
    long = [i for i in corpus.items if trajectory_tokens(i.trajectory) > limit]
    if not long:
        return corpus, {}
    if spec.too_long != "middle-out":
        raise _refusal(long, limit, corpus)
    items, gone = _cut(corpus.items, limit)
    told = {
        "policy": spec.too_long,
        "limit": limit,
        "items": len(long),
        "of": len(corpus.items),
        "tokens": gone,
    }
    return replace(corpus, items=items), {KEY: told}


def _cut(items: Sequence[Item], limit: int) -> tuple[tuple[Item, ...], int]:
    out, gone = [], 0
    for item in items:
        cut = middle_out(item.trajectory, limit)
        if cut is not item.trajectory:
            gone += trajectory_tokens(item.trajectory) - trajectory_tokens(cut)
            item = item.model_copy(update={"trajectory": cut})  # noqa: PLW2901 - the same item
        out.append(item)
    return tuple(out), gone


def _limit(
    spec: AuditSpec, judge: JudgeSpec, template: JudgeTemplate, renderings: Iterable[Rendering]
) -> int | None:
    if spec.max_trajectory_tokens is not None:
        return spec.max_trajectory_tokens
    context = choice.context_of(judge)
    if context is None:
        return None
    around = text_tokens(template.text) + max(text_tokens(r.text) for r in renderings)
    room = context - around - (answer_cap(judge.decoding) or _ANSWER)
    if spec.too_long == "middle-out":
        room = int(room * _SAFE)
    if room <= 0:
        raise ConfigError(
            f"policy and prompt alone fill the {context:,} tokens that {spec.judge!r} takes",
            mend="Use a shorter policy, or another judge",
        )
    return room


def _refusal(long: Sequence[Item], limit: int, corpus: Corpus) -> ConfigError:
    names = ", ".join(i.key for i in long[:_NAMED]) + (", …" if len(long) > _NAMED else "")
    verb = "is" if len(long) == 1 else "are"
    return ConfigError(
        f"{len(long):,} of {len(corpus.items):,} trajectories {verb} longer than the {limit:,} "
        f"tokens (characters / 4) that this judge is shown: {names}",
        mend="Leave their middle out with --too-long middle-out, which the card counts; or use a "
        "judge that takes more, or other items",
    )
