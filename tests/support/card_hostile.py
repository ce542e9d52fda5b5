"""Hostile text in every place of a run where it can enter."""

from __future__ import annotations

from card_runs import Run, facts, numbers, run

from judgeaudit.core.records import Certificate, Finding, Rendering

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "close": "</script></style></title></code></table><img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "svg": "<svg/onload=alert(1)>",
    "entity": "&lt;b&gt;&#60;script&#62;",
    "md_link": "[x](javascript:alert(1)) ![y](http://evil.example/p.png)",
    "md_table": "a | b |\n| --- |\n| c | d",
    "md_escape": "a\\| b \\` c `` d ` e \\",
    "md_heading": "# Big\n## Bigger\n- list\n> quote\n---\n===\n1. x",
    "md_html": "<details open><summary>x</summary>",
    "md_ref": "[x]: http://evil.example\n[^1] @someone #1 http://evil.example www.evil.example",
    "md_math": "$x$ $$y$$ **bold** __b__ ~~s~~ :smile:",
    "template": "{{ 7*7 }} {% raw %} {# c #} {{ v.limits }}",
    "ansi": "\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "bidi": "safe\u202eEFASNU\u2066\u2069",
    "nul": "a\x00b\x07\x08",
    "surrogate": "a\ud800b\udfff",
    "separators": "a\u2028b\u2029c\x85d\ufeff",
    "huge": "A" * 1_000_000,
    "csv": '=cmd|" /C calc"!A0',
    "blank": " \t\n ",
}


def hostile_run(text: str) -> Run:
    """Put a text everywhere."""
    base = facts()
    rendering = base.renderings[0]
    bad = Rendering(
        policy_id=text,
        policy_sha256=text,
        condition=text,
        language=text,
        text=text,
        sha256=text,
        certificate=Certificate(
            rendering_sha256=text,
            base_sha256=rendering.sha256,
            evidence="structural",
            passed=False,
            findings=(Finding(dimension="scope", where=text, what=text),),
        ),
    )
    condition = base.protocol.conditions[0].model_copy(update={"id": text, "summary": text})
    scores = [
        x.model_copy(
            update={
                "note": text,
                "method": text,
                "p_method": text,
                "null": text,
                "unit": text,
                "treatment": text if k % 2 else "exclude",
            }
        )
        for k, x in enumerate(numbers({text: 0.1, "certified": 0.01, "T1": 0.3}))
    ]
    scores += [
        scores[0].model_copy(update={"metric": text, "condition": text, "stratum": text}),
        scores[0].model_copy(
            update={"metric": "undue_share", "value": None, "why_undefined": text}
        ),
    ]
    return run(
        scores,
        {"band": text, "placebo": text, "certified_gate": text, text: text},
        {"responsiveness": text, "placebo": text, "certified_gate": text, "identified": text},
        judge=base.judge.model_copy(
            update={
                "backend": text,
                "model": text,
                "api_base": text,
                "template_id": text,
                "template_sha256": text,
                "decoding": {text: text, "list": [text]},
                "weights_sha256": text,
            }
        ),
        judge_note=text,
        policy=base.policy.model_copy(
            update={"id": text, "title": text, "language": text, "source": text, "sha256": text}
        ),
        corpus=base.corpus.model_copy(
            update={
                "name": text,
                "subset": text,
                "title": text,
                "version": text,
                "license": text,
                "ambiguity_source": text,
                "notes": (text, text),
                "n_ambiguous": None,
            }
        ),
        protocol=base.protocol.model_copy(
            update={
                "preset": text,
                "conditions": (*base.protocol.conditions, condition),
                "headline_treatment": text,
            }
        ),
        renderings=(*base.renderings, bad),
        outcomes={text: {"verdict": 5, "error": 4}, "base": {"verdict": 9}},
        served_models={text: 3, text + "2": 1},
        cost_note=text,
        started=text,
        ended=text,
        dropped_parameters=(text, "temperature"),
        ledger_sha256=text,
        versions={text: text},
        extra={"command": text, text: {text: [text]}},
        cost=None,
    )
