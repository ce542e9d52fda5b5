"""A hardened judge as data: what `hardened.toml` holds, read and written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import AuditSpec, Label, Policy, Record, Trajectory

__all__ = [
    "INCOMING",
    "BaseJudge",
    "Combine",
    "Example",
    "HardenedConfig",
    "Reads",
    "read_config",
    "split_wording",
    "write_config",
]

INCOMING: Final = "incoming"
"""The wording that stands for the text as it came."""

Combine = Literal["single", "majority", "mean", "unanimous"]
Reads = Literal["nothing", "base", "policy", "any"]

_WORDING: Final = re.compile(r"\A(\w+)(?:/(\d{1,4}))?\Z")
_MOST: Final = 25
_CANONICAL: Final = "one wording that is not the incoming one, and reads "
_AS_IT_CAME: Final = ", and wordings = ['incoming']"


class BaseJudge(Record):
    """The judge that is hardened: the choices of an audit that make up its identity."""

    judge: str
    api_base: str | None = None
    template: str | None = None
    output_format: Literal["plain", "json_mode", "json_schema", "grammar"] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    decoding: dict[str, Any] = Field(default_factory=dict)
    send_seed: bool | None = None
    logprobs: bool = False

    def choices(self, language: str) -> AuditSpec:
        """Return these as the choices of an audit."""
        return AuditSpec(**self.model_dump(), language=language)


class Example(Record):
    """A worked example: a trajectory and the verdict that is right."""

    label: Label
    trajectory: Trajectory
    source: str = ""


class HardenedConfig(Record):
    """A judge made of another: which texts it is asked under, and how its answers are joined.

    Parameters
    ----------
    name : str
        What it is called; served as a model's name.
    strategy : str
        In one word, for tables: "panel", "abstain", "threshold", "canonical", "normalise",
        "examples", "two_stage"; or "own". All but "own" must be what the file does.
    policy, language : str
        The policy that it judges by, a name or a path, and its language.
    policy_sha256 : str
        Hash of that policy as data; another policy of this name is refused.
    reads : {"nothing", "base", "policy", "any"}
        What an incoming policy text is read back against: nothing (it is used as it came), this
        policy as it is, with its known changes (stricter, more lenient, ...) too, or every policy
        that ships as well. A text that is none of them is passed unchanged, and the answer says so.
    wordings : tuple of str
        Texts that the judge is asked under: "incoming", or a certified condition ("T2", and "T2/1"
        for its second wording).
    combine : {"single", "majority", "mean", "unanimous"}
        One answer; more than half of all; mean of P(UNSAFE) against the threshold; all, or no
        verdict at all.
    threshold : float, optional
        P(UNSAFE) above which the verdict is UNSAFE; with "single" and "mean".
    facts_first : bool
        Whether the judge first lists facts without seeing the policy, and then judges these alone.
    examples : tuple of Example
        Shown before the question.
    base : BaseJudge
        Who is asked.
    chosen : dict
        Where it comes from: on how many clusters it was chosen, and what it measured on others.
        Not part of its identity.
    """

    layout: Literal[1] = 1
    name: str = Field(min_length=1, max_length=80, pattern=r"^[\w.+-]+$")
    strategy: str = Field(default="own", max_length=40)
    policy: str = "agent_safety"
    language: str = "en"
    policy_sha256: str | None = None
    reads: Reads = "policy"
    wordings: tuple[str, ...] = Field(default=(INCOMING,), min_length=1, max_length=_MOST)
    combine: Combine = "single"
    threshold: float | None = Field(default=None, ge=0, le=1)
    facts_first: bool = False
    examples: tuple[Example, ...] = Field(default=(), max_length=20)
    base: BaseJudge
    chosen: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for wording in self.wordings:
            if _WORDING.match(wording) is None:
                raise ValueError(f"the wording {wording!r} is no condition, such as T2 or T2/1")
        if (self.combine == "single") != (len(self.wordings) == 1):
            raise ValueError(
                f"combine {self.combine!r} does not go with {len(self.wordings)} wordings: one "
                "wording is 'single', several are joined"
            )
        if self.threshold is not None and self.combine not in {"single", "mean"}:
            raise ValueError("a threshold goes with combine 'single' and 'mean'")
        if self.reads == "nothing" and set(self.wordings) != {INCOMING}:
            raise ValueError("another wording needs to read the incoming text: reads = 'policy'")
        if self.base.judge.startswith("hardened:"):
            raise ValueError("a hardened judge is not hardened again")
        why = self._unlike_its_strategy()
        if why:
            raise ValueError(f"strategy {self.strategy!r} {why}; strategy 'own' is any mix")
        return self

    def _unlike_its_strategy(self) -> str | None:
        """Say what the file does else than its strategy's name promises."""
        if self.strategy == "own":
            return None
        single, new = self.combine == "single", INCOMING not in self.wordings
        plain = single and not new
        needs = {
            "canonical": (single and new and self.reads == "base", _CANONICAL + "'base'"),
            "normalise": (
                single and new and self.reads in {"policy", "any"},
                _CANONICAL + "'policy' or 'any'",
            ),
            "panel": (self.combine in {"majority", "mean"}, "combine 'majority' or 'mean'"),
            "abstain": (self.combine == "unanimous", "combine 'unanimous'"),
            "threshold": (
                plain and self.threshold is not None,
                "a threshold, on the text as it came",
            ),
            "examples": (plain and bool(self.examples), "examples, on the text as it came"),
            "two_stage": (plain and self.facts_first, "facts_first, on the text as it came"),
        }
        if self.strategy not in needs:
            return f"is not one of {', '.join(needs)}"
        fits, what = needs[self.strategy]
        if not fits:
            return f"needs {what}"
        more = {
            "threshold": self.threshold is not None and self.combine != "mean",
            "examples": bool(self.examples),
            "two_stage": self.facts_first,
        }
        # what belongs to another strategy makes it a mix, and its figures another judge's
        mixed = [name for name, there in more.items() if there and name != self.strategy]
        return f"does not go with what makes {', '.join(map(repr, mixed))}" if mixed else None

    @property
    def identity(self) -> str:
        """Hash of all that decides an answer."""
        return sha256_of(self.model_dump(mode="json", exclude={"chosen"}))

    @property
    def discards(self) -> bool:
        """Whether the incoming wording cannot reach the verdict where its text is recognised."""
        return INCOMING not in self.wordings

    @property
    def calls(self) -> int:
        """Requests a verdict at most."""
        return len(self.wordings) + int(self.facts_first)

    def load_policy(self) -> Policy:
        """Load its policy.

        Raises
        ------
        PolicyError, ConfigError
            If there is none, or it is another one than the config was made with.
        """
        from judgeaudit.policy import load_policy

        policy = load_policy(self.policy, language=self.language)
        if self.policy_sha256 not in {None, policy.sha256}:
            raise ConfigError(
                f"the policy {self.policy!r} is another one than this judge was made with "
                f"({policy.sha256[:12]}, not {(self.policy_sha256 or '')[:12]})",
                mend="Harden the judge again, for the policy as it is now",
            )
        return policy


def split_wording(wording: str) -> tuple[str, int]:
    """Split "T2/1" into a condition and the number of its wording.

    Examples
    --------
    >>> split_wording("T2/1"), split_wording("T4")
    (('T2', 1), ('T4', 0))
    """
    found = _WORDING.match(wording)
    assert found is not None
    return found[1], int(found[2] or 0)


def read_config(path: Path | str) -> HardenedConfig:
    """Read a hardened judge from its file.

    Raises
    ------
    ConfigError
        Naming file, line and key.
    """
    from judgeaudit.core.toml import read_toml, record_from

    data, text = read_toml(Path(path))
    return record_from(HardenedConfig, data, text=text, path=Path(path))


def write_config(config: HardenedConfig, path: Path) -> None:
    """Write a hardened judge to a file, which `read_config` reads as the same one."""
    from judgeaudit._version import __version__

    data = config.model_dump(mode="json", exclude_defaults=True) | {"layout": config.layout}
    base, chosen = data.pop("base"), data.pop("chosen", {})
    examples = data.pop("examples", ())
    lines = [
        f"# A hardened judge, made by judgeaudit {__version__}. Use it as hardened:{path.name}",
        *(f"{k} = {_value(v)}" for k, v in data.items()),
        "",
        "[base]",
        *(f"{k} = {_value(v)}" for k, v in base.items()),
    ]
    for example in examples:
        lines += ["", "[[examples]]", *(f"{k} = {_value(v)}" for k, v in example.items())]
    if chosen:
        lines += ["", "[chosen]", *(f"{_key(k)} = {_value(v)}" for k, v in chosen.items())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    """Write a JSON-like value in TOML; what TOML has no word for (null) is left out."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # lone surrogates have no place in a TOML file; DEL is no character of a basic string
        whole = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        inner = (f"{_key(str(k))} = {_value(v)}" for k, v in value.items() if v is not None)
        return "{ " + ", ".join(inner) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(v) for v in value if v is not None) + "]"
    return repr(value)
