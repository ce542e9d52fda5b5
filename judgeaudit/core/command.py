"""The command line that repeats an audit."""

from __future__ import annotations

import shlex
from pathlib import Path

from judgeaudit.core.records import AuditSpec

__all__ = ["command_of"]


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
