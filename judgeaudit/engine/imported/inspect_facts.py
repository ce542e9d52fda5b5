"""Who scored a log of Inspect AI, and with what: provenance for the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from judgeaudit.core.hashing import sha256_text
from judgeaudit.corpora._eval_file import LogFile
from judgeaudit.judges._text import short, storable

__all__ = ["asked_of", "known_of"]

_LONGEST_OPTIONS: Final = 4_000


def known_of(log: LogFile, n: int) -> dict[str, Any]:
    """Return what a log says of itself: file, run, versions, scorers and their options.

    Parameters
    ----------
    log : LogFile
        The log.
    n : int
        Samples that were found in it.
    """
    head = log.head["eval"]
    packages = head.get("packages")
    planned = None
    dataset, config = head.get("dataset"), head.get("config")
    ids = dataset.get("sample_ids") if isinstance(dataset, Mapping) else None
    epochs = config.get("epochs") if isinstance(config, Mapping) else None
    if isinstance(ids, list) and isinstance(epochs, int | None):
        planned = len(ids) * (epochs or 1)
    return {
        "file": log.source.name,
        "sha256": log.source.sha256,
        "status": short(str(log.head.get("status", "started" if not log.complete else "unknown"))),
        "samples": n,
        "planned": planned,
        "log_version": log.head.get("version"),
        "scorers": _scorers_of(head),
        "packages": {
            short(str(k), 80): short(str(v), 80)
            for k, v in (packages.items() if isinstance(packages, Mapping) else ())
        },
        **{
            name: short(str(head[name]))
            for name in ("task", "task_version", "run_id", "eval_id", "created", "model")
            if head.get(name) is not None
        },
    }


def _scorers_of(head: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of each scorer, as JSON, or their hash where they are long."""
    out = {}
    for scorer in head.get("scorers") or ():
        if isinstance(scorer, Mapping):
            text = storable(json.dumps(scorer.get("options") or {}, sort_keys=True))
            kept = text if len(text) <= _LONGEST_OPTIONS else f"sha256:{sha256_text(text)}"
            out[short(str(scorer.get("name")), 80)] = kept
    return out


def asked_of(event: Mapping[str, Any]) -> str:
    """Name the model of a request, and the one that answered where it is another."""
    model = str(event.get("model"))
    output = event.get("output")
    served = output.get("model") if isinstance(output, Mapping) else None
    if isinstance(served, str) and served and not model.endswith(served):
        model = f"{model} as {served}"
    return short(model, 120)
