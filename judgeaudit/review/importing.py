"""Let a model draft a policy as data from a text, and say what a person has to look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Draft, JudgeSpec, Policy, Rendering, Reply
from judgeaudit.policy.coverage import Added, SentenceCoverage, coverage, not_in_text
from judgeaudit.policy.drafting import Drafted, read_draft
from judgeaudit.policy.linting import Problem, lint
from judgeaudit.policy.questions import load_question, put
from judgeaudit.review.asking import ask_all

__all__ = ["LONGEST", "Review", "draft_policy", "read_source", "review", "words"]

LONGEST = 100_000
"""Characters that a text may have."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a person looks at before confirming a draft.

    Parameters
    ----------
    sentences : tuple of SentenceCoverage
        Of the original; empty where it is not at hand.
    added : tuple of Added
        Parts of the policy that the original does not seem to hold.
    failing : tuple of Rendering
        Conditions under which the draft does not read back.
    problems : tuple of Problem
        What the linter says.
    """

    policy: Policy
    text: str
    sentences: tuple[SentenceCoverage, ...]
    added: tuple[Added, ...]
    failing: tuple[Rendering, ...]
    problems: tuple[Problem, ...]


def read_source(path: Path) -> str:
    """Read the text of a policy.

    Raises
    ------
    PolicyError
        If it cannot be read, is empty, no text, or too long.
    """
    from judgeaudit.policy._toml import read_text

    text = read_text(path)
    if not text.strip():
        raise PolicyError("the text is empty", where=str(path))
    if "\0" in text:
        raise PolicyError("is no text (it holds a zero byte)", where=str(path))
    if len(text) > LONGEST:
        raise PolicyError(
            f"the text has {len(text):,} characters, more than {LONGEST:,}",
            where=str(path),
            mend="Import it in parts",
        )
    return text


def draft_policy(
    text: str, spec: JudgeSpec, *, attempts: int = 3, seconds: float = 300.0, keep: Path
) -> Drafted:
    """Ask a model for a draft, and show it what was wrong with its last one.

    Parameters
    ----------
    attempts : int
        Requests at most.
    keep : Path
        Where the last answer is kept if none can be used.

    Raises
    ------
    PolicyError
        If no answer was a policy; says why the last one was not.
    JudgeError, ConfigError
        If the model cannot be asked.
    """
    question = load_question("draft", ("text", "trouble"))
    draft = Draft(model=f"{spec.backend}:{spec.model}", source_sha256=sha256_text(text))
    trouble = ""
    last = PolicyError("it was not asked", mend="Allow one attempt or more")
    reply = Reply(text=None)
    replies: dict[str, Reply] = {}
    for attempt in range(1, attempts + 1):
        prompt = put(question, {"text": text.rstrip("\n"), "trouble": trouble})
        ask_all(spec, [(f"draft {attempt}", prompt)], seconds=seconds, told=replies.__setitem__)
        reply = replies[f"draft {attempt}"]
        try:
            return _read(reply, draft)
        except PolicyError as e:
            last = e
            if "refused" in e.what:
                break
        trouble = (
            f" Your last answer could not be used: {last.where + ': ' if last.where else ''}"
            f"{last.what}. Answer with the whole object again, mended."
        )
    keep.parent.mkdir(parents=True, exist_ok=True)
    keep.write_text(reply.text or reply.refusal or "", encoding="utf-8", errors="replace")
    asked = len(replies)
    raise PolicyError(
        f"no usable draft in {asked} answer{'s' if asked > 1 else ''}: {last.what}",
        where=last.where,
        mend=f"{last.mend or 'Ask a larger model'}. The last answer is kept in {keep}",
    )


def _read(reply: Reply, draft: Draft) -> Drafted:
    if reply.refusal is not None:
        said = " ".join(reply.refusal.split())[:160]
        raise PolicyError(f"the model refused: {said!r}", mend="Ask another model")
    try:
        return read_draft(reply.text or "", draft)
    except PolicyError as e:
        if reply.finish_reason in ("length", "max_tokens", "max_output_tokens"):
            raise PolicyError(
                "the answer was cut off by its cap of tokens", mend="Raise --max-tokens"
            ) from e
        raise


def review(policy: Policy, original: str | None) -> Review:
    """Gather what a person has to look at.

    Parameters
    ----------
    original : str, optional
        The text that the policy was drafted from, where it is at hand.
    """
    from judgeaudit.policy.rendering import render
    from judgeaudit.policy.transforms import load_conditions

    made = [render(policy, c, language=policy.language) for c in load_conditions()]
    base = next(r for r in made if r.condition == "base")
    return Review(
        policy=policy,
        text=base.text,
        sentences=() if original is None else coverage(original, base.text),
        added=() if original is None else not_in_text(policy, original),
        failing=tuple(r for r in made if not r.certified),
        problems=lint(policy),
    )


def words(made: Review, assumed: tuple[str, ...] = ()) -> str:
    """Lay out what a person has to look at, the rendered policy first."""
    lines = [made.text.rstrip("\n"), "", "---- to be looked at ----"]
    if made.sentences:
        n = {s: sum(x.state == s for x in made.sentences) for s in ("covered", "partly")}
        rest = len(made.sentences) - n["covered"] - n["partly"]
        lines.append(
            f"Sentences of the original: {n['covered']} covered, {n['partly']} partly, "
            f"{rest} not covered (by a count of words, not of meaning)"
        )
        for x in made.sentences:
            if x.state != "covered":
                numbers = f"; missing: {', '.join(x.missing)}" if x.missing else ""
                lines.append(f"  line {x.line}, {x.state} ({x.share:.2f}{numbers}): {x.sentence}")
    lines += [f"Not found in the original: {a.where} ({a.share:.2f}): {a.text}" for a in made.added]
    lines += [f"Assumed by the model, for the text does not say: {rule}" for rule in assumed]
    lines += _failing(made.failing)
    lines += [f"Lint, {p.severity}: {p.id}: {p.where}: {p.message}" for p in made.problems]
    if lines[-1].startswith("----"):
        lines.append("Nothing stands out. That is no proof: read it against the original.")
    return "\n".join(lines)


def _failing(renderings: tuple[Rendering, ...]) -> list[str]:
    """Say once what does not read back: one fault mostly shows under every condition."""
    if not renderings:
        return []
    names = ", ".join(r.condition for r in renderings)
    held = renderings[0].certificate
    found = () if held is None else held.findings
    lines = [f"Does not read back under {names}; under {renderings[0].condition}:"]
    return lines + [f"  {f.dimension}, {f.where}: {f.what}" for f in found]
