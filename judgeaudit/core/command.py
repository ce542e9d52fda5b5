"""The command line that repeats an audit, and the folder it runs in."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import AuditSpec

__all__ = ["command_of", "extra_of", "flag_of", "folder_of_choices"]

_NOT_IDENTITY: Final = (
    *("out", "certificates", "concurrency", "attempts", "attempt_seconds", "call_seconds"),
    *("adaptive", "requests_per_minute", "tokens_per_minute"),
    *("budget_usd", "budget_tokens", "budget_calls", "prices"),
    *("executor", "workers"),
    *("batch", "batch_wait", "batch_interval", "batch_requests"),
    # what it drops is: the ledger holds it
    "drop_unsupported",
)
_NOT_REPEATED: Final = {
    *("out", "decoding", "budget_usd", "budget_tokens", "budget_calls"),
    *("batch_wait", "batch_interval", "batch_requests"),
}


def flag_of(name: str) -> str:
    """Spell a choice as the flag of `judgeaudit audit` that sets it.

    Examples
    --------
    >>> flag_of("base_repeats"), flag_of("conditions.0")
    ('--base-repeats', '--condition')
    """
    stem = name.partition(".")[0]
    return "--condition" if stem == "conditions" else "--" + stem.replace("_", "-")


# Left out where not asked for, so that runs made before these were there keep their folders.
_LATER: Final = (
    *("logprobs", "until", "only_items"),
    *("judge_format", "judge_version", "too_long", "max_trajectory_tokens"),
)


def command_of(spec: AuditSpec) -> str:
    """Word the command that repeats an audit; paths are cut to their last part.

    Without the budget of its first session: a run that went on past it would not be repeated.
    """
    words = ["judgeaudit", "audit"]
    for name, value in spec.model_dump(exclude_defaults=True, exclude=_NOT_REPEATED).items():
        flag = flag_of(name)
        if name == "conditions":
            words += [w for c in value for w in (flag, c)]
        elif name == "certificates":
            words += [w for p in value for w in (flag, f"…/{p.name}")]
        elif isinstance(value, bool):
            words.append(flag if value else "--no-" + flag[2:])
        elif isinstance(value, Path) or (name == "data" and not str(value).startswith("hub:")):
            words += [flag, f"…/{Path(value).name}"]
        else:
            words += [flag, str(value)]
    return " ".join(w if w.startswith("…") else shlex.quote(w) for w in words)


def extra_of(spec: AuditSpec) -> dict[str, Any]:
    """Return what a ledger keeps of the choices beside its records."""
    out: dict[str, Any] = {"command": command_of(spec)}
    if spec.retry_truncated is not None:
        out["retry_truncated"] = spec.retry_truncated
    if spec.until is not None:
        out["until"] = spec.until
    return out


def folder_of_choices(spec: AuditSpec) -> Path:
    """Return the folder of a run that names none: the same choices resume the same run."""
    choices = spec.model_dump(mode="json", exclude=set(_NOT_IDENTITY))
    choices = {k: v for k, v in choices.items() if v or k not in _LATER}
    words = f"{spec.judge}-{spec.corpus}-{spec.preset or 'default'}"
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-.")[:80]
    return Path("runs") / f"{slug}-{sha256_of(choices)[:8]}"
