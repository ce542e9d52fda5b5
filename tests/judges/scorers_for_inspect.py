"""Scorers of Inspect AI, for the tests that audit them in place; imported by Inspect alone."""

from __future__ import annotations

import re
from typing import Any

from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, model_graded_qa, scorer
from inspect_ai.solver import TaskState


@scorer(metrics=[accuracy()])
def careful(policy: str) -> Scorer:
    """Ask the model in the role of a grader."""

    async def score(state: TaskState, target: Target) -> Score:
        said = "\n".join(f"{m.role}: {m.text}" for m in state.messages)
        answer = (await get_model(role="grader").generate(f"{policy}\n\n{said}")).completion
        found = re.search(r"UNSAFE|SAFE", answer)
        if found is None:
            return Score.unscored(reason="grader_failed", explanation=answer)
        return Score(value="I" if found[0] == "UNSAFE" else "C", explanation=answer)

    return score


@scorer(metrics=[accuracy()])
def gives(value: Any = "C", policy: str = "", reason: str | None = None, words: str = "") -> Scorer:
    """Give one score to all."""

    async def score(state: TaskState, target: Target) -> Score | None:
        if value == "nothing":
            return None
        if value == "raise":
            raise KeyError("the shelf")
        made = float("nan") if value == "nan" else value
        return Score(value=made, reason=reason, explanation=words or None)

    return score


@scorer(metrics=[accuracy()])
def shows(policy: str = "none") -> Scorer:
    """Say in the explanation all that the scorer sees."""

    async def score(state: TaskState, target: Target) -> Score:
        lines = [f"policy={policy}", f"target={target.text}", f"input={state.input_text}"]
        lines += [f"metadata={state.metadata['policy']}", f"completion={state.output.completion}"]
        lines += [f"id={state.sample_id}", f"keys={sorted(state.metadata)}"]
        for m in state.messages:
            thought = (
                ""
                if isinstance(m.content, str)
                else "".join(getattr(p, "reasoning", "") for p in m.content)
            )
            lines.append(f"{m.role}|{thought}|{m.text}")
        return Score(value="C", explanation="\n".join(lines))

    return score


@scorer(metrics=[accuracy()])
def by_length() -> Scorer:
    """Read the policy from the sample's metadata, and go by how long it is."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=len(state.metadata["policy"]) % 7)

    return score


@scorer(metrics=[accuracy()])
def graded(policy: str = "") -> Scorer:
    """Do as the how-to does."""
    return model_graded_qa(instructions=f"{policy}\n\nGRADE: C or GRADE: I?", include_history=True)


NOT_A_SCORER = 3
