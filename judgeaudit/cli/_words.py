"""What the command line says of a plan, a result and a set of scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from judgeaudit.cards import words
from judgeaudit.cards.clauses import is_unscored
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.voiding import is_void_metric, void, void_badge
from judgeaudit.core.terminal import plain

if TYPE_CHECKING:
    from judgeaudit.audit import AuditResult, Prepared
    from judgeaudit.core.records import Score, ScoreSet
    from judgeaudit.engine.estimate import Estimate

__all__ = ["of_corrected", "of_jury", "of_plan", "of_result", "of_scores"]

_REASON: Final = 60
_SENTENCE_END: Final = re.compile(r": |; |\. | \(")


def _here(backend: str) -> bool:
    return backend in {"local", "scripted", "replay", "control"}


def _planned(estimate: Estimate) -> str:
    if estimate.cost_least is None:
        return estimate.cost_note
    if estimate.cost_most is None:
        return f"at least {words.money(estimate.cost_least)} ({estimate.cost_note})"
    return (
        f"{words.money(estimate.cost_least)} to {words.money(estimate.cost_most)} "
        f"({estimate.cost_note})"
    )


def _cost(result: AuditResult) -> str:
    facts = result.facts
    if _here(facts.judge.backend) or (facts.cost is None and result.planned.cost_least is None):
        return ""  # the card's note says that nobody knows the price
    known = "" if facts.cost is None else f" ({facts.cost_note})"
    cost = facts.cost_note if facts.cost is None else words.money(facts.cost) + known
    planned = _planned(result.planned) if result.planned.cost_least is not None else "not known"
    return f"Cost: {cost}; planned: {planned}"


def of_plan(ready: Prepared) -> str:
    """Say who will be asked what, how often, and at what price."""
    plan, facts, estimate = ready.plan, ready.corpus.facts, ready.plan.estimate
    by_condition = ", ".join(f"{c} {n:,}" for c, n in plan.counts.items())
    price = "none: it runs on this machine" if _here(ready.judge.backend) else _planned(estimate)
    judge = ready.judge
    where = f" at {judge.api_base}" if judge.api_base else ""
    lines = [
        f"judge    {judge.backend}:{judge.model}{where}",
        *_asked(ready),
        f"policy   {ready.meta.policy.id}, {_norms(ready)}",
        *_edited(ready),
        *_evidence(ready),
        f"corpus   {facts.name}, {facts.n_items:,} items in {facts.n_clusters:,} clusters",
        *_shortened(ready),
        f"plan     {estimate.n_calls:,} calls: {by_condition}",
        f"tokens   about {estimate.prompt_tokens:,} sent ({estimate.tokens_note})",
        f"price    {price}",
        *_parts(ready),
        *_in_batches(ready),
        f"run      {ready.folder}",
    ]
    return plain("\n".join(lines))


def _shortened(ready: Prepared) -> list[str]:
    cut = ready.meta.extra.get("too_long")
    if not cut:
        return []
    what = f"cut      {cut['items']:,} of {cut['of']:,} trajectories, to {cut['limit']:,} tokens: "
    return [what + f"about {cut['tokens']:,} tokens of their middle are left out, with a mark"]


def _parts(ready: Prepared) -> list[str]:
    """Say that tokens and price are those of one part, where a call has several."""
    if ready.judge.backend != "hardened":
        return []
    from judgeaudit.judges._hardened_spec import config_of

    config = config_of(ready.judge.model)
    if config.calls == 1 and not config.examples:
        return []
    more = f"up to {config.calls} requests" if config.calls > 1 else "its examples, too"
    return [f"parts    each call takes {more}: tokens and price above are of one plain request"]


def _in_batches(ready: Prepared) -> list[str]:
    spec = ready.spec
    if not spec.batch:
        return []
    return [f"calls    in batches of at most {spec.batch_requests:,} requests and 200 MB"]


def _asked(ready: Prepared) -> list[str]:
    """Say what was found out about how the judge can be asked, or that it is still to be."""
    spec, found = ready.spec, ready.settled
    if found is None:
        wanted = spec.output_format == "auto" and ["answer format (json_schema, json_mode, plain)"]
        open_ = [*(wanted or []), *(["refused parameters"] if spec.drop_unsupported else [])]
        return (
            [f"asked    the judge is asked first, beside the plan: {', '.join(open_)}"]
            if open_
            else []
        )
    requests = f"{found.requests} request{'' if found.requests == 1 else 's'} beside the plan"
    lines = [f"asked    for {ready.judge.output_format} answers ({requests})"]
    if found.dropped:
        lines.append(f"asked    WITHOUT {', '.join(found.dropped)}, which the judge refuses")
    return lines + [f"refused  {r}" for r in found.refused]


def _norms(ready: Prepared) -> str:
    n = ready.meta.policy.n_norms
    return "texts of your own" if n is None else f"{n} norms"


def _edited(ready: Prepared) -> list[str]:
    name = ready.meta.extra.get("edited_policy")
    return [f"policy   EDITED: not the {name} that ships"] if name else []


def _evidence(ready: Prepared) -> list[str]:
    """Say which rewrites are not certified, and which certificates are void."""
    spec, lines = ready.spec, []
    kinds = {c.id: c.kind for c in ready.meta.protocol.conditions}
    wanted = [r for r in ready.meta.renderings if kinds[r.condition] == "certified"]
    bare = [r.condition for r in wanted if not r.certified]
    if bare:
        lines.append(f"evidence NOT CERTIFIED, scored but not pooled: {', '.join(bare)}")
    if spec.certificates:
        people = [r.condition for r in ready.meta.renderings if r.certified_by == "human"]
        lines.append(f"evidence certified by people: {', '.join(people) or 'none of the texts'}")
        lines += [
            f"evidence void for {r.condition}: the text changed after people certified it"
            for r in ready.meta.renderings
            if r.has_void
        ]
    return lines


def of_result(result: AuditResult) -> str:
    """Say what came out, and where the card lies."""
    if result.in_batches and not result.facts.n_answered:
        return plain(_with_the_provider(result))
    made, facts = result.card, result.facts
    figures = Figures(made.facts, made.scores)
    lines = ["", made.headline.sentence, ""]
    for metric, condition, title in (
        ("pis", None, "PIS"),
        ("delta_paper", "certified", "excess flips (paper)"),
        ("delta_debiased", "certified", "excess flips (debiased)"),
        ("direction_ratio", None, "R_dir"),
        ("undue_share", None, "U_rate"),
        ("jitter", "base", "jitter"),
        ("accuracy", None, "accuracy"),
    ):
        score = result.scores.find(metric, condition)
        if score is not None:
            said = _no_figure(figures, metric) or _estimate(score)
            cut = words.uncut(score, result.scores.find("pis_raw")) if metric == "pis" else ""
            lines.append(f"  {title:<24} {said}{f'  ({cut})' if cut else ''}")
    lines.append("")
    lines += [f"  {w.severity}: {w.sentence}" for w in made.warnings]
    lines.append("")
    if result.interrupted:
        left = facts.n_planned - facts.n_answered
        lines.append(f"Interrupted: {left:,} of {facts.n_planned:,} calls are left.")
        lines.append("The same command goes on from here.")
    if result.in_batches:
        lines.append(_with_the_provider(result))
    if facts.failures:
        counts = ", ".join(f"{n:,} {kind}" for kind, n in facts.failures.items())
        lines.append(f"Failures on the way: {counts}")
    if cost := _cost(result):
        lines.append(cost)
    lines.append(f"Card: {result.folder}/card.html (also card.md, card.json)")
    return plain("\n".join(lines))


def _with_the_provider(result: AuditResult) -> str:
    return (
        f"{result.in_batches} calls are with the provider, in batches: judgeaudit batch status "
        f"{result.folder}. The same command goes on with them."
    )


def _no_figure(f: Figures, metric: str) -> str:
    """Word why a figure is not told, as on the card; "" where it is."""
    if is_void_metric(metric) and void(f):
        return f"void: {void_badge(f)}"
    pis = f.get("pis") if metric == "pis" else None
    if pis is not None and f.withheld:
        return f"void: {void_badge(f)}"
    if pis is None or pis.value is None or not is_unscored(f, pis):
        return ""
    return f"not given: too few flips  {words.interval(pis)}"


def _estimate(score: Score) -> str:
    """Word a figure for one line of a terminal; the card gives a reason in full."""
    if score.value is None:
        why = _SENTENCE_END.split(score.why_undefined or "")[0]
        return words.cannot(shorten(why, _REASON))
    if words.ends(score) is None:
        return words.estimate(score)
    return f"{words.estimate(score)}  {words.interval(score)}"


def of_scores(scores: ScoreSet) -> str:
    """Lay out all scores as a plain table."""
    rows = [("metric", "condition", "value", "interval", "n", "method")]
    # what failed stands last: it fills a screen where nothing did
    for s in sorted(scores.scores, key=lambda s: s.metric == "outcome_rate"):
        name = s.metric if s.stratum is None else f"{s.metric} ({s.stratum})"
        if s.treatment != "exclude":
            name += f" [{s.treatment}]"
        undefined = words.estimate(s).startswith(words.NO_FIGURE)
        rows.append(
            (
                name,
                s.condition or "",
                # a reason fills no column: it stands last, where nothing is pushed away by it
                "–" if undefined else words.estimate(s),
                words.interval(s),
                f"{s.n_items:,}",
                words.estimate(s) if undefined else s.method,
            )
        )
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    table = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    flags = [f"{k}: {v}. {scores.reasons.get(k, '')}".rstrip() for k, v in scores.flags.items()]
    return plain("\n".join([*table, "", *flags]))


def of_jury(scores: ScoreSet) -> str:
    """Lay out a jury's figures, with the notes that belong to them below."""
    notes = [
        f"{s.metric} ({s.stratum}): {s.note}"
        for s in scores.scores
        if s.note is not None and s.metric != "latent_accuracy"
    ]
    return plain("\n".join([of_scores(scores), *notes]))


def of_corrected(scores: ScoreSet) -> str:
    """Say what rate people would find, and on what that rests."""
    first = scores.scores[0]
    n, labelled = (int(first.detail[k] or 0) for k in ("items", "labelled"))
    test = "" if first.p_value is None else f" (p = {first.p_value:.2g} that they are a draw)"
    lines = [
        f"{labelled} of {n} items are labelled{test}; this holds only if they were drawn at random",
        *([f"note: {first.note}"] if first.note else []),
        of_scores(scores),
    ]
    return plain("\n".join(lines)).rstrip()
