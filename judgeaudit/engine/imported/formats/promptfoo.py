"""promptfoo: `promptfoo eval -o results.json`, or `.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.corpora._read import Source
from judgeaudit.engine.imported.formats.base import (
    FORMATS,
    Asked,
    Place,
    Rows,
    first_of,
    lines_of,
    text_of_answer,
)

__all__ = ["Promptfoo"]

_FAILED: Final = 2
"""`failureReason` of a call that raised; 1 is an assertion that did not hold."""
_RUN_VARS: Final = ("sessionId",)
_LONGEST_NAME: Final = 80
# graders of releases before the mark `graderError` failed with these words
_BROKEN: Final = ("Could not extract JSON", "API error", "No output", "Output is not")
_GRADES: Final = ("success", "score", "gradingResult", "namedScores", "assert")
_CUT: Final = {"length": "truncated", "max_tokens": "truncated", "content_filter": "refusal"}


@FORMATS.register("promptfoo")
class Promptfoo:
    """Results of `promptfoo eval`.

    An item is a test, known by its variables and description; a condition is a prompt, by its
    label; tests with the same variables are repeats, in the order of `testIdx`, which is how
    `--repeat` writes them. Without `--verdict` the provider is the judge and its output is read as
    a judge's answer; `--verdict assert.NAME.pass` takes an assertion's result instead, by its
    metric's name or its type.
    """

    title = "promptfoo results (eval -o results.json or .jsonl)"

    def recognises(self, source: Source) -> bool:
        """See `VerdictFormat.recognises`."""
        first = first_of(source)
        results = first.get("results")
        if isinstance(results, dict):
            return isinstance(results.get("results"), list)
        return {"success", "vars", "prompt", "provider", "score"} <= first.keys()

    def read(self, sources: Sequence[Source], asked: Asked) -> Rows:
        """See `VerdictFormat.read`."""
        graded = asked.verdict is not None and asked.verdict.partition(".")[0] in _GRADES
        found = [
            Place(where, _row(raw, where, asked.verdict if graded else None))
            for source in sources
            for where, raw in _results(source)
        ]
        _count_repeats(found)
        return Rows(
            found,
            {
                "item": "item",
                "condition": "prompt_name",
                "repeat": "repeat",
                "reply": "output",
                "outcome": "outcome",
            },
            one=("provider_id",),
            judge="provider_id",
        )


def _results(source: Source) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    for where, record in lines_of(source):
        results = record.get("results")
        if not isinstance(results, dict):
            found.append((where, record))
            continue
        listed = results.get("results")
        if not isinstance(listed, list):
            raise CorpusError("holds no list of results", where=where)
        for n, raw in enumerate(listed, 1):
            if not isinstance(raw, dict):
                raise CorpusError("is not an object", where=f"{where}, result {n}")
            found.append((f"{source.place}, result {n}", raw))
    return found


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _row(raw: dict[str, Any], where: str, graded_by: str | None) -> dict[str, Any]:
    if "success" not in raw or "vars" not in raw:
        raise CorpusError("has no 'success' or no 'vars': no result of promptfoo", where=where)
    provider, prompt = raw.get("provider"), _dict(raw.get("prompt"))
    label = prompt.get("label") or prompt.get("display") or prompt.get("raw") or ""
    known = _dict(raw.get("vars"))
    stable = {k: v for k, v in known.items() if k not in _RUN_VARS and not k.startswith("_")}
    described = _dict(raw.get("testCase")).get("description")
    response = _dict(raw.get("response"))
    row = {
        **raw,
        "item": f"test-{sha256_of([described, stable])[:12]}",
        "prompt_name": _short(str(label), raw.get("promptIdx")),
        "provider_id": provider.get("id") if isinstance(provider, dict) else provider,
        "output": text_of_answer(response.get("output")),
        "assert": _assertions(raw),
    }
    row["outcome"] = _outcome(row, response, graded_by)
    return row


def _short(label: str, number: object) -> str:
    """Return a prompt's label, or its number where the label is the prompt's whole text."""
    bare = " ".join(label.split())
    return bare if 0 < len(bare) <= _LONGEST_NAME else f"prompt {number}"


def _assertions(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return each assertion's result by its metric's name, or by its type; a second one is _2."""
    made: dict[str, Any] = {}
    parts = _dict(raw.get("gradingResult")).get("componentResults")
    for part in parts if isinstance(parts, list) else ():
        told = _dict(part)
        of = _dict(told.get("assertion"))
        name = str(of.get("metric") or of.get("type") or "assertion")
        n = 1
        while (free := name if n == 1 else f"{name}_{n}") in made:
            n += 1
        made[free] = told
    return made


def _broken(part: Mapping[str, Any]) -> bool:
    """Say whether the grader failed, which promptfoo writes down as a test that did not pass."""
    if _dict(part.get("metadata")).get("graderError"):
        return True
    return part.get("pass") is False and str(part.get("reason", "")).startswith(_BROKEN)


def _outcome(row: dict[str, Any], response: Mapping[str, Any], graded_by: str | None) -> str | None:
    grading = row.get("gradingResult")
    why = row.get("failureReason")
    if why == _FAILED or response.get("error") or (row.get("error") and grading is None):
        return "error"
    if graded_by is not None:
        head, _, rest = graded_by.partition(".")
        parts = _dict(row["assert"])
        of = [p for name, p in parts.items() if rest == name or rest.startswith(f"{name}.")]
        named = head in {"assert", "namedScores"} and of
        return "error" if any(map(_broken, of if named else parts.values())) else None
    if response.get("isRefusal") is True:
        return "refusal"
    if row["output"] is None:
        return "error"
    return _CUT.get(str(response.get("finishReason", "")).lower())


def _count_repeats(found: Sequence[Place]) -> None:
    """Count the tests of one item by `testIdx`, or by their order where there is none."""
    order: dict[str, list[tuple[int, int]]] = {}
    for n, (_, row) in enumerate(found):
        at = row.get("testIdx")
        parts = (row["item"], row.get("promptIdx"), row["prompt_name"], row["provider_id"])
        sort = at if isinstance(at, int) and not isinstance(at, bool) else n
        order.setdefault(repr(parts), []).append((sort, n))
    for members in order.values():
        for rank, (_, n) in enumerate(sorted(members)):
            found[n].value["repeat"] = rank
