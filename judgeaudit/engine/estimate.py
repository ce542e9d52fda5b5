"""What a plan will cost, said before the first call; what is not known stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from judgeaudit.core.records import JudgePrompt

__all__ = ["BATCH_FACTOR", "Estimate", "Price", "TokenCounter", "make_estimate"]

TokenCounter = Callable[[JudgePrompt], int]

BATCH_FACTOR: Final = 0.5
"""What part of the price of single requests providers publish for batches: half."""


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in US dollars a token.

    Parameters
    ----------
    prompt, completion : float
        Price of one token sent, and of one token answered.
    stated : bool
        Whether the user stated it: then it counts, and not what a library reckons.
    batch : float, optional
        What part of it a call in a batch costs, where the user stated it.
    note : str
        What these prices rest on, where that must be said.
    """

    prompt: float
    completion: float
    stated: bool = False
    batch: float | None = None
    note: str = ""

    def batched(self) -> Price:
        """Return the price of calls that are made in batches."""
        factor = BATCH_FACTOR if self.batch is None else self.batch
        whose = (
            "the discount that providers publish for batches; a price file can say otherwise"
            if self.batch is None
            else "as the price file says"
        )
        return replace(
            self,
            prompt=self.prompt * factor,
            completion=self.completion * factor,
            batch=None,
            note=f"in batches, at {factor:g} times the price of single requests ({whose})",
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and price of a plan.

    Parameters
    ----------
    n_calls : int
        Requests, if none has to be repeated.
    by_condition : dict of str to int
        Calls by condition id.
    prompt_tokens : int
        Tokens sent, all calls together.
    tokens_note : str
        Whether tokens were counted, or estimated as characters / 4.
    completion_tokens_most : int, optional
        Tokens answered at most; None where the judge's answers have no cap.
    cost_least, cost_most : float, optional
        US dollars for the prompts alone, and with every answer at its cap; None: not known.
    cost_note : str
        Why a cost is not known, or what it rests on.
    """

    n_calls: int
    by_condition: dict[str, int]
    prompt_tokens: int
    tokens_note: str
    completion_tokens_most: int | None
    cost_least: float | None
    cost_most: float | None
    cost_note: str


def make_estimate(
    by_condition: Mapping[str, int],
    *,
    tokens: int,
    counted: bool,
    decoding: Mapping[str, Any],
    price: Price | None,
) -> Estimate:
    """Price a plan.

    Parameters
    ----------
    by_condition : mapping of str to int
        Calls by condition id.
    tokens : int
        Tokens of all prompts.
    counted : bool
        Whether `tokens` was counted with the model's own tokenizer.
    decoding : mapping
        The judge's parameters; `max_tokens` or `max_completion_tokens` caps an answer.
    price : Price, optional
        None: the cost is unknown, never 0.
    """
    n = sum(by_condition.values())
    cap = decoding.get("max_completion_tokens", decoding.get("max_tokens"))
    most = n * cap if isinstance(cap, int) else None
    note = "tokens counted" if counted else "tokens estimated as characters / 4"
    if price is None:
        least = at_most = None
        cost_note = "the price of this model is not known"
    else:
        least = tokens * price.prompt
        at_most = None if most is None else least + most * price.completion
        cost_note = note if most is not None else f"{note}; answers have no cap on their tokens"
        cost_note += f"; {price.note}" if price.note else ""
    return Estimate(
        n_calls=n,
        by_condition=dict(by_condition),
        prompt_tokens=tokens,
        tokens_note=note,
        completion_tokens_most=most,
        cost_least=least,
        cost_most=at_most,
        cost_note=cost_note,
    )
