"""The command line that repeats an audit, and the folder it runs in."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import AuditSpec

__all__ = ["command_of", "extra_of", "folder_of_choices"]

_NOT_IDENTITY: Final = (
    *("out", "certificates", "concurrency", "attempts", "attempt_seconds", "call_seconds"),
    *("adaptive", "requests_per_minute", "tokens_per_minute"),
    *("budget_usd", "budget_tokens", "budget_calls", "prices"),
    *("executor", "workers"),
)


def command_of(spec: AuditSpec) -> str:
    """Word the command that repeats an audit; paths are cut to their last part."""
    words = ["judgeaudit", "audit"]
    for name, value in spec.model_dump(exclude_defaults=True, exclude={"out", "decoding"}).items():
        flag = "--" + name.replace("_", "-")
        if name == "conditions":
            words += [w for c in value for w in ("--condition", c)]
        elif name == "certificates":
            words += [w for p in value for w in (flag, f"…/{p.name}")]
        elif isinstance(value, bool):
            words.append(flag if value else "--no-" + flag[2:])
        elif isinstance(value, Path) or (name == "data" and not str(value).startswith("hub:")):
            words += [flag, f"…/{Path(value).name}"]
        else:
            words += [flag, str(value)]
    return " ".join(w if w.startswith("…") else shlex.quote(w) for w in words)


def folder_of_choices(spec: AuditSpec) -> Path:
    """Return the folder of a run that names none: the same choices resume the same run."""
    choices = spec.model_dump(mode="json", exclude=set(_NOT_IDENTITY))
    words = f"{spec.judge}-{spec.corpus}-{spec.preset or 'default'}"
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-.")[:80]
    return Path("runs") / f"{slug}-{sha256_of(choices)[:8]}"


def extra_of(spec: AuditSpec) -> dict[str, Any]:
    """Return what a ledger keeps of the choices beside its records."""
    out: dict[str, Any] = {"command": command_of(spec)}
    if spec.retry_truncated is not None:
        out["retry_truncated"] = spec.retry_truncated
    return out
