"""Let a model draft a policy one sentence at a time: what small models can do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Draft, JudgeSpec, Reply
from judgeaudit.policy.drafting import Drafted, read_draft
from judgeaudit.policy.pieces import KINDS, SCHEMAS, Piece, assemble, check_part, sentences
from judgeaudit.policy.questions import QuestionTemplate, json_objects, load_question, put
from judgeaudit.review.asking import ask_all

__all__ = ["SpecOf", "draft_by_sentence"]

SpecOf = Callable[[QuestionTemplate, dict[str, Any]], JudgeSpec]
"""From a question and the schema of its answer to who is asked."""

_SLOTS: Final = {
    "kind": ("text", "sentence", "trouble"),
    "norm": ("sentence", "trouble"),
    "definition": ("sentence", "trouble"),
}


@dataclass(slots=True)
class _Asking:
    text: str
    sentences: Sequence[tuple[int, str]]
    spec_of: SpecOf
    attempts: int
    seconds: float
    heard: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    model: str = ""

    def ask(self, about: str, which: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Ask about these sentences until each answer can be used, or attempts are spent."""
        question = load_question(f"sentence_{about}", _SLOTS[about])
        spec = self.spec_of(question, SCHEMAS[about])
        self.model = f"{spec.backend}:{spec.model}"
        good: dict[int, dict[str, Any]] = {}
        trouble: dict[int, str] = {}
        for _ in range(self.attempts):
            left = [k for k in which if k not in good]
            prompts = []
            for k in left:
                said = f" {trouble[k]}. Answer again, mended." if k in trouble else ""
                slots = {"text": self.text, "sentence": self.sentences[k][1], "trouble": said}
                values = {name: slots[name] for name in _SLOTS[about]}
                prompts.append((str(k), put(question, values)))
            replies: dict[str, Reply] = {}
            failed = ask_all(spec, prompts, seconds=self.seconds, told=replies.__setitem__)
            for k in left:
                reply, why = replies.get(str(k)), failed.get(str(k), "not asked")
                try:
                    good[k] = self._read(about, self.sentences[k][1], reply, why)
                except PolicyError as e:
                    trouble[k] = f"{e.where}: {e.what}" if e.where else e.what
        for k in which:
            if k not in good:
                line, sentence = self.sentences[k]
                self.notes.append(f"line {line}: {sentence!r}: its {about}: {trouble[k]}")
        return good

    def _read(self, about: str, sentence: str, reply: Reply | None, why: str) -> dict[str, Any]:
        text = None if reply is None else reply.text
        self.heard.append(
            json.dumps({"sentence": sentence, "asked": about, "answer": text}, ensure_ascii=False)
        )
        if reply is None:
            raise PolicyError(why)
        if reply.refusal is not None:
            raise PolicyError(f"the model refused: {' '.join(reply.refusal.split())[:160]!r}")
        found = json_objects(text or "")
        if not found:
            raise PolicyError("the answer holds no JSON object")
        if about == "kind":
            if found[-1].get("kind") not in KINDS:
                raise PolicyError(f"must be one of {', '.join(KINDS)}", where="kind")
            return found[-1]
        return check_part(about, found[-1], sentence)


def draft_by_sentence(
    text: str, spec_of: SpecOf, *, name: str, attempts: int = 3, seconds: float = 300.0, keep: Path
) -> tuple[Drafted, tuple[str, ...]]:
    """Ask of every sentence what it does, then for the parts of every norm and definition.

    Parameters
    ----------
    spec_of : callable
        Makes the spec of the model for a question and its schema.
    name : str
        Gives the policy its id.
    attempts : int
        Requests a sentence and question at most; the model is told what was wrong.
    keep : Path
        Where all answers are kept, as JSON lines, if no draft comes of them.

    Returns
    -------
    Drafted, tuple of str
        The draft, and a line for each sentence that was left out.

    Raises
    ------
    PolicyError
        If no policy comes of the answers.
    JudgeError, ConfigError
        If the model cannot be asked.
    """
    work = _Asking(text.rstrip("\n"), sentences(text), spec_of, attempts, seconds)
    if not work.sentences:
        raise PolicyError("the text holds no sentence", mend="Write its rules as sentences")
    kinds = {k: str(v["kind"]) for k, v in work.ask("kind", range(len(work.sentences))).items()}
    parts: dict[int, dict[str, Any]] = {}
    for about in ("norm", "definition"):
        if which := [k for k, kind in kinds.items() if kind == about]:
            parts |= work.ask(about, which)
    pieces = [
        Piece(sentence, line, kinds[k], parts.get(k, {}))
        for k, (line, sentence) in enumerate(work.sentences)
        if k in kinds and (kinds[k] not in _SLOTS or k in parts)
    ]
    try:
        made = assemble(text, pieces, name=name)
        draft = Draft(model=work.model, source_sha256=sha256_text(text))
        return read_draft(json.dumps(made.data), draft), (*work.notes, *made.notes)
    except PolicyError as e:
        keep.parent.mkdir(parents=True, exist_ok=True)
        keep.write_text("\n".join(work.heard) + "\n", encoding="utf-8", errors="replace")
        raise PolicyError(
            f"no usable draft of {len(work.sentences)} sentences: {e.what}",
            where=e.where,
            mend=f"{e.mend or 'Ask a larger model'}. The answers are kept in {keep}",
        ) from e
