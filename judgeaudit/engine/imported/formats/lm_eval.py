"""lm-evaluation-harness: `samples_<task>_<date>.jsonl` of `--log_samples`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora._read import Source
from judgeaudit.engine.imported.formats.base import FORMATS, Asked, Place, Rows, first_of, lines_of

__all__ = ["LmEval"]

_NAME: Final = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl")
_NO_MATCH: Final = "[invalid]"
"""What a filter that looks for a pattern leaves where it finds none."""
_FIELDS: Final = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"})


@FORMATS.register("lm_eval")
class LmEval:
    """Samples of lm-evaluation-harness, one file a task.

    An item is a document, by its number; the task, read from the file's name, is the condition, so
    give one file for each wording. A task that generates is read as a judge's answers: each
    response of a document is a repeat, as it came and before filters (`--reply filtered` takes the
    filtered one). Of a multiple-choice task the verdict is the choice of the highest
    log-likelihood; a tie is ambiguous. Metrics such as `acc` say whether the judge was right and
    are no verdicts.
    """

    title = "lm-evaluation-harness samples (--log_samples)"

    def recognises(self, source: Source) -> bool:
        """See `VerdictFormat.recognises`."""
        return first_of(source).keys() >= _FIELDS

    def read(self, sources: Sequence[Source], asked: Asked) -> Rows:
        """See `VerdictFormat.read`."""
        filtered = "filtered" in {asked.verdict, asked.reply}
        found: list[Place] = []
        hashes: dict[str, tuple[str, str]] = {}
        counts: Counter[str] = Counter()
        chosen = False
        for source in sources:
            named = _NAME.fullmatch(source.name)
            task = named["task"] if named else source.name.removesuffix(".jsonl")
            for where, record in lines_of(source):
                if not record.keys() >= _FIELDS:
                    raise CorpusError("is no sample of lm-evaluation-harness", where=where)
                _same_document(record, where, hashes)
                for answer in _answers(record, where, filtered=filtered):
                    chosen = chosen or answer["choice"] is not None
                    key = repr((task, record["doc_id"], record.get("filter")))
                    found.append(
                        Place(where, {**record, **answer, "task": task, "repeat": counts[key]})
                    )
                    counts[key] += 1
        roles = {
            "item": "doc_id",
            "condition": "task",
            "repeat": "repeat",
            "outcome": "outcome",
            **({"verdict": "choice"} if chosen else {"reply": "answer"}),
        }
        several = len({repr(r.get("filter")) for _, r in found}) > 1
        return Rows(found, roles, one=("filter",) if several else ())


def _same_document(record: dict[str, Any], where: str, hashes: dict[str, tuple[str, str]]) -> None:
    digest = record.get("doc_hash")
    if not isinstance(digest, str):
        return
    before = hashes.setdefault(repr(record["doc_id"]), (digest, where))
    if before[0] != digest:
        raise CorpusError(
            f"document {record['doc_id']!r:.40} is another one here than at {before[1]} "
            "(doc_hash differs)",
            where=where,
            mend="Wordings of one judge must be asked about the same documents",
        )


def _answers(record: dict[str, Any], where: str, *, filtered: bool) -> Iterator[dict[str, Any]]:
    resps = record["resps"]
    if not isinstance(resps, list) or not resps or not all(isinstance(r, list) for r in resps):
        raise CorpusError("'resps' is not a list of lists", where=where)
    if len(resps) > 1 or _is_likelihood(resps[0]):
        yield _choice(record, resps, where)
        return
    after = record["filtered_resps"]
    kept = after[0] if isinstance(after, list) and after else None
    if filtered:
        for text in kept if isinstance(kept, list) else [kept]:
            answer = _answered(text if isinstance(text, str) else None, text)
            yield answer | ({"outcome": "unparseable"} if text == _NO_MATCH else {})
        return
    for n, text in enumerate(resps[0]):
        same = isinstance(kept, list) and len(kept) == len(resps[0])
        yield _answered(
            text if isinstance(text, str) else None,
            kept[n] if isinstance(kept, list) and same else kept,
        )


def _answered(text: str | None, kept: object) -> dict[str, Any]:
    return {
        "answer": text,
        "filtered": kept,
        "choice": None,
        "outcome": None if text is not None else "error",
    }


def _is_likelihood(response: list[Any]) -> bool:
    """Say whether a request asked for a log-likelihood: its response is a pair."""
    first = response[0] if response else None
    return isinstance(first, list) and len(first) == 2


def _choice(record: dict[str, Any], resps: list[Any], where: str) -> dict[str, Any]:
    if len(resps) < 2:
        raise CorpusError(
            "holds one log-likelihood and no choices: no verdict is in it",
            where=where,
            mend="Give the samples of a task that generates, or of a multiple-choice one",
        )
    words = [w.strip() if isinstance(w, str) else None for w in _continuations(record, len(resps))]
    sums = [_number(r[0][0] if _is_likelihood(r) else None) for r in resps]
    made: dict[str, Any] = {"answer": None, "filtered": None, "choice": None, "outcome": "error"}
    if None in sums or None in words:
        return made
    half = len(words) // 2
    if half and words[:half] == words[half:]:
        words, sums = words[:half], sums[:half]  # the second half asks without the prompt
    best = max(s for s in sums if s is not None)
    first = [w for w, s in zip(words, sums, strict=True) if s == best]
    if len(first) > 1:
        return made | {"outcome": "ambiguous"}
    return made | {"choice": first[0], "outcome": None}


def _continuations(record: dict[str, Any], n: int) -> list[Any]:
    """Return what each request would have continued the prompt with: its second argument."""
    asked = record["arguments"]
    if isinstance(asked, dict):
        found = [asked.get(f"gen_args_{k}") for k in range(n)]
        return [f.get("arg_1") if isinstance(f, dict) else None for f in found]
    pairs = asked if isinstance(asked, list) else []
    words = [p[1] if isinstance(p, list) and len(p) > 1 else None for p in pairs[:n]]
    return [*words, *[None] * (n - len(words))]


def _number(value: object) -> float | None:
    try:
        found = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(found) or found == math.inf else found
