"""What was asked and what was answered, as one hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from judgeaudit.core.hashing import canonical_json
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.probabilities import MARK

if TYPE_CHECKING:
    from judgeaudit.engine.identity import RunMeta

__all__ = ["content_hash"]


def content_hash(meta: RunMeta, rows: Iterable[tuple[Any, ...]], failed: set[int]) -> str:
    """Hash the identities of a run and its rows, in the order given.

    Parameters
    ----------
    meta : RunMeta
        Whose judge, protocol, policy and corpus were asked.
    rows : iterable of tuple
        Calls with their answers, as the view reads them.
    failed : set of int
        Positions of calls that failed; one without an answer counts as an error.

    Returns
    -------
    str
        sha256 in hexadecimal digits.
    """
    who = [meta.judge.sha256, meta.protocol.sha256, meta.policy.sha256, meta.corpus.sha256]
    digest = hashlib.sha256(canonical_json(who).encode())
    marked = meta.extra.get(MARK)
    for row in rows:
        position, answer = row[0], row[6:16]
        if answer[0] is None and position in failed:
            answer = ("error",)
        elif marked:
            answer = (*answer, row[24])
        line = json.dumps([plain_text(v) for v in (*row[1:6], *answer)])
        digest.update(b"\n" + line.encode())
    return digest.hexdigest()
