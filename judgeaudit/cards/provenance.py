"""Who was judged, on what, under which protocol, and how to do it again."""

from __future__ import annotations

import re
from typing import Final

from judgeaudit.cards.attacked import KEY as ATTACK
from judgeaudit.cards.calls import account
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.layout import Cell, Section, condition_words, ident, raw, table
from judgeaudit.cards.localised import KEY
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard, RenderingFacts
from judgeaudit.cards.reproducing import block, renderings_sha256
from judgeaudit.cards.texts_en import CONDITIONS, EVIDENCE
from judgeaudit.cards.words import count, duration, joined, money, threshold_words
from judgeaudit.core.hashing import canonical_json
from judgeaudit.core.records import Evidence

__all__ = ["protocol_section", "provenance_section", "summary", "what", "who"]

_MOST: Final = 20
_SHORT: Final = 12
_LONG_HEX: Final = re.compile(r"[0-9a-f]{40,}")
_SAID: Final = frozenset(
    {
        *("batches", "command", "confidence", "n_confidence", "edited_policy", "fingerprints"),
        *(ATTACK, KEY),
    }
)
# they stand where they belong


def _hash(sha256: str) -> Cell:
    return ident(sha256[:_SHORT]) if sha256 else Cell("not recorded")


def _served(f: Figures) -> Cell:
    if f.is_imported:
        return Cell("not known: verdicts were imported")
    names = sorted(f.facts.served_models.items(), key=lambda kv: (-kv[1], kv[0]))
    if not names:
        return Cell("not stated by the server")
    listed = ", ".join(f"{n or 'unnamed'} ({count(k)})" for n, k in names[:_MOST])
    more = f", and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ident(listed + more)


def _decoding(f: Figures) -> Cell:
    judge = f.facts.judge
    if f.is_imported and not judge.decoding:
        return Cell("not known")
    said = ", ".join(f"{k}={canonical_json(v)}" for k, v in sorted(judge.decoding.items()))
    seed = "a seed a call" if judge.sends_seed else "no seed sent"
    if f.is_imported:
        return ident(f"{said} (stated, not seen)")
    return ident(f"{said or 'the defaults of the model'}; {seed}")


_CONFIDENCE: Final = {
    "logprobs": "log-probabilities of the verdict's token",
    "stated": "stated by the judge",
    "repeats": "share of repeats that agree",
}


def _confidence(f: Figures) -> list[tuple[str, Cell]]:
    """Say where confidence comes from; older runs do not tell."""
    source = f.facts.extra.get("confidence")
    if source not in _CONFIDENCE:
        return []
    known = f.facts.extra.get("n_confidence")
    of = f" (known for {count(known)} answers)" if isinstance(known, int) else ""
    return [("Confidence", Cell(_CONFIDENCE[source] + of))]


def _negotiated(f: Figures) -> str:
    told = f.facts.extra.get("settled")
    n = told.get("requests") if isinstance(told, dict) else None
    return f", found out beforehand ({n} requests)" if isinstance(n, int) else ""


def who(f: Figures) -> tuple[tuple[str, Cell], ...]:
    """Say who the judge is: a model, a prompt, an output format and decoding, together."""
    judge = f.facts.judge
    rows = [
        ("Model asked for", ident(judge.model)),
        ("Served as", _served(f)),
        ("Backend", ident(judge.backend + (f" at {judge.api_base}" if judge.api_base else ""))),
        ("Prompt", ident(f"{judge.template_id} {judge.template_sha256[:_SHORT]}".strip())),
        (
            "Answer format",
            Cell("not known") if f.is_imported else ident(judge.output_format + _negotiated(f)),
        ),
        ("Decoding", _decoding(f)),
        *_confidence(f),
        ("Judge hash", _hash(f.facts.judge_sha256)),
    ]
    if judge.weights_sha256:
        rows.append(("Weights hash", _hash(judge.weights_sha256)))
    return tuple(rows)


def _dates(f: Figures) -> Cell:
    started, ended = f.facts.started, f.facts.ended
    if f.is_imported:
        return raw(f"imported {ended or 'at an unknown time'}; asked at a time not known")
    if not started and not ended:
        return Cell("not recorded")
    return raw(f"{started or 'unknown'} to {ended or 'unknown'}")


def _labels(f: Figures) -> str:
    c = f.facts.corpus
    unlabelled = f", {count(c.n_unlabelled)} without a label" if c.n_unlabelled else ""
    ambiguous = "" if c.n_ambiguous is None else f"; {count(c.n_ambiguous)} ambiguous"
    return (
        f"{count(c.n_unsafe)} unsafe, {count(c.n_safe)} safe{unlabelled}{ambiguous} "
        f"(labels: {c.label_source})"
    )


def _norms(norms: int | None, exceptions: int | None) -> Cell:
    if norms is None or exceptions is None:
        return Cell("not known: a text of the user's own")
    return Cell(f"{count(norms)}, with {count(exceptions)} exceptions")


def _edited(f: Figures) -> str:
    """Say that a policy is not the one whose id it bears; "" where it is, or bears its own."""
    name = f.facts.extra.get("edited_policy")
    return f"edited: not the {shorten(name, 40)} that ships" if isinstance(name, str) else ""


def _policy(f: Figures) -> Cell:
    p = f.facts.policy
    if f.is_imported and not p.sha256:
        return Cell("not known: its text was not given")
    stated = " (stated, not seen)" if f.is_imported else ""
    edited = f" · {_edited(f)}" if _edited(f) else ""
    return raw(f"{shorten(p.title or p.id, 90)} ({p.id}, {p.language}){stated}{edited}")


def what(f: Figures) -> tuple[tuple[str, Cell], ...]:
    """Say on what the judge was audited."""
    p, c, t = f.facts.policy, f.facts.corpus, f.facts.protocol
    # the whole hash stands among the identities; here it would fill three lines of a phone
    version = f" {_LONG_HEX.sub(lambda m: m[0][:_SHORT], c.version)}" if c.version else ""
    subset = f" / {c.subset}" if c.subset else ""
    return (
        ("Policy", _policy(f)),
        ("Norms", Cell("not known") if not p.sha256 else _norms(p.n_norms, p.n_exceptions)),
        ("Corpus", raw(f"{c.title or c.name} ({c.name}{subset}{version})")),
        ("Items", Cell(f"{count(c.n_items)} in {count(c.n_clusters)} clusters")),
        ("Labels", Cell(_labels(f))),
        (
            "Protocol",
            raw(
                f"{t.preset}: {t.base_repeats} base calls, {t.repeats} per condition, "
                f"{len(t.conditions)} conditions"
            ),
        ),
        ("Calls", Cell(account(f))),
        ("Dates", _dates(f)),
    )


def summary(f: Figures) -> tuple[tuple[str, Cell], ...]:
    """Say in one line who was judged on what."""
    names = sorted(n for n in f.facts.served_models if n)
    several = Cell(f"{count(len(names))} different models")
    served = ("served as", raw(names[0], 60)) if len(names) == 1 else ("served by", several)
    c, p, t = f.facts.corpus, f.facts.policy, f.facts.protocol
    rows = [served] if names else []
    rows += [
        ("policy", raw(shorten(p.title or p.id, 60) + (f" ({_edited(f)})" if _edited(f) else ""))),
        ("corpus", raw(f"{shorten(c.title or c.name, 60)}, {count(c.n_items)} items")),
        ("protocol", raw(t.preset, 40)),
        ("run", raw((f.facts.ended or f.facts.started or "not dated")[:10])),
    ]
    return tuple(rows)


def _certificate(r: RenderingFacts) -> str:
    if r.void:
        return f"void: {r.void}"
    counts = "none" if r.evidence == "none" else _evidence(r.evidence, r.passed, r.note)
    beside = [_evidence(o.evidence, o.passed, o.note) for o in r.others]
    return f"{counts} (beside it: {'; '.join(beside)})" if beside else counts


def _evidence(evidence: Evidence, passed: bool | None, note: str) -> str:
    said = f"{EVIDENCE[evidence]}: {'passed' if passed else 'failed'}"
    return f"{said}, {shorten(note, 80)}" if note else said


def _findings(r: RenderingFacts) -> Cell:
    found = [*r.findings, *(x for o in r.others for x in o.findings)]
    if not found:
        return Cell("–")
    said = "; ".join(f"{x.dimension} at {x.where}: {x.what}" for x in found[:4])
    more = f"; and {len(found) - 4} more" if len(found) > 4 else ""
    return raw(said + more)


def protocol_section(f: Figures) -> Section:
    """Lay out the conditions and the renderings with their certificates."""
    t = f.facts.protocol
    rows = []
    for c in t.conditions:
        calls = t.base_repeats if c.id == "base" else t.repeats
        moves = joined([m.replace("_", " ") for m in c.moves]) or "nothing"
        name = Cell(condition_words(f, c.id), raw=c.id not in CONDITIONS)
        rows.append((name, c.kind, moves, f"{calls} an item", raw(c.summary or "–")))
    renderings = []
    for r in f.facts.renderings:
        name = Cell(condition_words(f, r.condition), raw=r.condition not in CONDITIONS)
        renderings.append(
            (
                name,
                f"{r.language}, wording {r.wording}, {count(r.n_characters)} characters",
                _certificate(r),
                _findings(r),
                _hash(r.sha256),
            )
        )
    tables = [table("Conditions", ("Condition", "Kind", "May change", "Calls", "What it is"), rows)]
    if renderings:
        head = ("Rendering", "Text", "Certificate", "Findings", "sha256")
        tables.append(table("Wordings of the policy, and their certificates", head, renderings))
    else:
        tables.append(table("Wordings of the policy", ("Rendering",), [("none recorded",)]))
    control = "" if t.control_items is None else f" Controls on {count(t.control_items)} items."
    order = f"Calls of all conditions were interleaved in a seeded random order (seed {t.seed})."
    if f.is_imported:
        order = "In which order calls were made is not known: their verdicts were imported."
    return Section(
        id="protocol",
        title="Protocol",
        lead=f"{order} Practical threshold {threshold_words(t.practical_threshold)}, stated in "
        f"advance; intervals at {100 * t.level:g}%.{control} Cards are comparable only where the "
        f"protocol's hash is the same.",
        tables=tuple(tables),
    )


def _failures(f: Figures) -> Cell:
    counts = sorted(f.facts.failures.items())
    return raw(joined([f"{count(n)} {kind}" for kind, n in counts]) if counts else "none")


def _weights(f: Figures) -> list[tuple[str, Cell]]:
    """Name the file of a model on this machine: with the library's version, it is the judge."""
    found = f.facts.judge.weights_sha256
    if found is None and f.facts.judge.backend != "local":
        return []
    return [("Model file", ident(found or "not recorded"))]


def _batches(found: object, answered: int) -> list[tuple[str, Cell]]:
    """Say which answers came in the provider's batches; nothing where none did."""
    if not isinstance(found, dict):
        return []
    known = {str(k): n for k, n in found.items() if isinstance(n, int)}
    names = ", ".join(f"{k} ({count(n)})" for k, n in list(known.items())[:_MOST])
    more = f", and {len(known) - _MOST} more" if len(known) > _MOST else ""
    n = sum(known.values())
    others = "" if n == answered else f", {count(answered - n)} by requests of their own"
    return [
        ("Calls made", raw(f"{count(n)} in batches{others}")),
        ("Batches", ident(names + more)),
    ]


def _files(card: JudgeCard) -> list[tuple[str, Cell]]:
    """Name the files that the card was made with beside its ledger."""
    given = card.parameters
    rows = [("Certificates", f) for f in given.certificates[:_MOST]]
    rows += [] if given.labels is None else [("Human labels", given.labels)]
    rows += [] if given.statements is None else [("Statements", given.statements)]
    return [(what, ident(f"{f.sha256} {shorten(f.name, 60)}")) for what, f in rows]


def _no_command(command: object) -> str:
    if not isinstance(command, str):
        return "The command that made this run was not recorded."
    return (
        "What was recorded as the command of this run is none that judgeaudit writes, so it is not "
        f"offered for pasting: {shorten(command, 200)}"
    )


def provenance_section(f: Figures, card: JudgeCard) -> Section:
    """Lay out hashes, versions, costs and the command that makes the run again."""
    facts = f.facts
    tokens = (
        "not reported"
        if facts.prompt_tokens is None and facts.completion_tokens is None
        else f"{count(facts.prompt_tokens or 0)} in, {count(facts.completion_tokens or 0)} out"
    )
    cost = money(facts.cost) + (f" ({facts.cost_note})" if facts.cost_note else "")
    identity = [
        ("Judge", ident(facts.judge_sha256)),
        *_weights(f),
        ("Prompt template", ident(facts.judge.template_sha256 or "not recorded")),
        ("Policy", ident(facts.policy.sha256 or "not recorded")),
        ("Wordings of the policy", ident(renderings_sha256(f) or "not recorded")),
        ("Corpus", ident(facts.corpus.sha256)),
        ("Protocol", ident(facts.protocol_sha256)),
        ("Plan of calls, with every prompt", ident(facts.plan_sha256 or "not recorded")),
        ("Ledger", ident(facts.ledger_sha256 or "not recorded")),
        ("Head of the ledger's hash chain", ident(facts.ledger_head or "not recorded")),
        *_files(card),
    ]
    run = [
        ("Card made", raw(f"{card.created} by {card.software.name} {card.software.version}")),
        ("Run", _dates(f)),
        ("Requests", Cell("not known" if f.is_imported else count(facts.requests))),
        *_batches(facts.extra.get("batches"), facts.n_answered),
        ("Requests that failed and were sent again", _failures(f)),
        ("Tokens", Cell(tokens)),
        ("Cost", raw(cost)),
        ("Time", Cell("not known" if f.is_imported else duration(facts.seconds))),
        ("Corpus licence", raw(facts.corpus.license or "not stated")),
        ("Ambiguity flags", raw(facts.corpus.ambiguity_source or "not stated")),
        ("Policy source", raw(facts.policy.source or "not stated")),
    ]
    run += [("Corpus note", raw(n)) for n in facts.corpus.notes[:_MOST]]
    run += [("Version", ident(f"{k} {v}")) for k, v in sorted(facts.versions.items())[:_MOST]]
    others = [(k, v) for k, v in sorted(facts.extra.items()) if k not in _SAID]
    run += [("Also", ident(f"{k}: {canonical_json(v)}", 200)) for k, v in others[:_MOST]]
    command = facts.extra.get("command")
    typed = block(f, card)
    return Section(
        id="provenance",
        title="Provenance and reproduction",
        lead="A card is a function of its ledger, its parameters and the time it was given. "
        "Hashes are sha256.",
        tables=(
            table("Identities", ("Of", "sha256"), [(Cell(k), v) for k, v in identity]),
            table("The run", ("What", "Value"), [(Cell(k), v) for k, v in run]),
        ),
        command=typed,
        notes=() if typed else (_no_command(command),),
    )
