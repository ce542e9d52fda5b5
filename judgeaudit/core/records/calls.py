"""Judges and calls: what is asked, what comes back, what it is read as."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from judgeaudit.core.hashing import sha256_of, stable_seed
from judgeaudit.core.records._base import Label, Outcome, Record

__all__ = [
    "Call",
    "GuardFormat",
    "JudgePrompt",
    "JudgeSpec",
    "Message",
    "OutputFormat",
    "Reply",
    "Verdict",
]

GuardFormat = Literal[
    "llama-guard",
    "shieldgemma",
    "wildguard",
    "granite-guardian",
    "qwen3guard",
    "qwen3guard-strict",
    "qwen3guard-loose",
    "gpt-oss-safeguard",
    "nemoguard",
]
"""Answers of guard models, each in the form that it was trained to give."""

OutputFormat = Literal["plain", "json_mode", "json_schema", "grammar", GuardFormat]
"""How a verdict is asked for, and so how an answer is read."""


class Message(Record):
    """One chat message to a judge."""

    role: Literal["system", "user", "assistant"]
    content: str


class JudgePrompt(Record):
    """The messages of one call; identical for all repeats of an (item, condition).

    Parameters
    ----------
    messages : tuple of Message
        What is sent.
    policy, trajectory : str, optional
        The two texts that the messages are made of, for judges that take them apart. They are
        not stored, and no part of the identity: the messages hold both.
    """

    messages: tuple[Message, ...]
    policy: str | None = Field(default=None, exclude=True, repr=False)
    trajectory: str | None = Field(default=None, exclude=True, repr=False)

    @property
    def sha256(self) -> str:
        """Identity of the prompt: the hash of its messages."""
        return sha256_of([m.model_dump() for m in self.messages])


class JudgeSpec(Record):
    """A judge: model, prompt template, output format and decoding. Change one: another judge.

    Parameters
    ----------
    backend : str
        Name in the judge registry ("litellm", "direct", "local", "scripted", "replay",
        "control").
    model : str
        The backend's model string ("openai/gpt-5.4-mini", "smollm2-135m", "brittle_t4").
    api_base : str, optional
        The endpoint, for OpenAI-compatible servers; part of the identity.
    template_id, template_sha256 : str
        The prompt template, and the hash of its text.
    output_format : str
        How the verdict is asked for ("plain", "json_mode", "json_schema", "grammar"), or the guard
        model's own form in which it comes ("llama-guard", ...).
    decoding : dict
        Parameters sent with each call (temperature, max_tokens, ...).
    sends_seed : bool
        Whether each call carries a seed derived from (item, condition, repeat).
    weights_sha256 : str, optional
        Hash of the weights file, for models on this machine; of the recording, for replays; of
        what is known of it, for functions.
    """

    backend: str
    model: str
    api_base: str | None = None
    template_id: str = "default"
    template_sha256: str = ""
    output_format: OutputFormat = "plain"
    decoding: dict[str, Any] = Field(default_factory=dict)
    sends_seed: bool = False
    weights_sha256: str | None = None

    @property
    def sha256(self) -> str:
        """Identity of the judge."""
        return self.content_sha256()


class Call(Record):
    """One planned call, and its identity.

    The identity holds item and condition beside the prompt's hash: the placebo's prompt is the
    base prompt, and datasets hold duplicates, yet each of these calls is a draw of its own.
    """

    item: str
    condition: str
    wording: int = 0
    repeat: int = Field(ge=0)
    prompt_sha256: str
    judge_sha256: str

    @property
    def id(self) -> str:
        """Identity of the call: a hash of all its fields."""
        return self.content_sha256()

    @property
    def seed(self) -> int:
        """The 31-bit seed for this call, derived from (item, condition, wording, repeat)."""
        return stable_seed(self.item, self.condition, self.wording, self.repeat)


class Reply(Record):
    """What a judge answered, before anybody reads a verdict into it.

    Parameters
    ----------
    text : str, optional
        The answer's content; None where the server sent none.
    finish_reason : str, optional
        As served ("stop", "length", "content_filter").
    refusal : str, optional
        The refusal message, where the server sent one in its own field.
    seconds : float
        Wall-clock time of the successful attempt.
    attempts : int
        Requests made for this call, the successful one included.
    cost : float, optional
        US dollars; None where the price is not known, never 0 for an unknown price.
    batch_id : str, optional
        The provider's batch that the call was part of; None for a request of its own. Its
        `seconds` are then not known, and 0.
    p_unsafe : float, optional
        Probability of UNSAFE given that the answer is a verdict, where it is known.
    p_source : str, optional
        Where that probability comes from ("token log-probabilities"); numbers of two sources are
        never mixed.
    p_true : float, optional
        Probability of True given that the answer is True or False: where a judge was asked about
        its own verdict.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    served_model: str | None = None
    system_fingerprint: str | None = None
    request_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    cost: float | None = None
    batch_id: str | None = None
    p_unsafe: float | None = Field(default=None, ge=0, le=1)
    p_source: str | None = None
    p_true: float | None = Field(default=None, ge=0, le=1)


class Verdict(Record):
    """What a call ended in. There is no default label: a failure cannot become a verdict."""

    outcome: Outcome
    label: Label | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    rationale: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _label_exactly_when_verdict(self) -> Self:
        if (self.label is not None) != (self.outcome == "verdict"):
            raise ValueError(
                f"outcome {self.outcome!r} with label {self.label!r}: "
                "a label is there exactly when the outcome is 'verdict'"
            )
        return self
