"""Runs in batches against the loopback server, for the tests of them."""

from __future__ import annotations

from loopback import Answer, completion, error, prompt_key, says

from judgeaudit import audit
from judgeaudit.engine.batch.story import looks, submit_all, write
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

SMALL = {"preset": "quick", "limit": 4, "conditions": ("base", "T1", "strict"), "max_tokens": 40}
N = 4 * (3 + 2 + 2)


def choices(server, out, **more):
    return {
        **SMALL, "judge": "direct:toy", "api_base": server.api_base, "out": out, "batch": True,
        "batch_interval": 0.02, "attempts": 3, **more,
    }  # fmt: skip


def answers(run):
    with Ledger.open_readonly(run / "ledger.sqlite") as view:
        assert [] == faults(view)
        rows = list(view.rows())
        return rows, view.failures()


def whole(run, server):
    """Assert that each call was worked on once and answered once."""
    rows, failures = answers(run)
    assert N == len(rows)
    assert all(r["outcome"] == "verdict" for r in rows)
    assert [] == failures
    assert N == len(server.asked)
    assert {1} == set(server.asked.values())
    assert 0 == len(server.single)


def prepared(server, out, **more):
    return audit.prepare(audit.choose(None, choices(server, out, **more)))


HARD = [
    says('{"verdict": "SAFE"}'),
    says(None, finish_reason="content_filter", message={"refusal": "I can't help with that."}),
    says('{"verdict": "UNS', finish_reason="length"),
    says("perhaps"),
    lambda *_: Answer(body=completion("") | {"choices": []}),
    lambda *_: Answer(body={"error": {"message": "behind a gateway", "code": 503}}),
    lambda *_: error(400, "The response was filtered", "content_filter"),
    lambda *_: error(400, "too long", "context_length_exceeded"),
    lambda *_: error(429, "Rate limit reached", "rate_limit_exceeded"),
    lambda *_: error(500, "The server had an error", None),
    lambda *_: error(400, "Invalid value", "invalid_value"),
]


def hard(body, n, k):
    return HARD[int(prompt_key(body)[:6], 16) % len(HARD)](body, n, k)


def fetched(server, tmp_path, **mangled):
    """Make a run whose batch is over, and fetch its files by hand; return run and output file."""
    run = tmp_path / "a"
    for name, value in mangled.items():
        setattr(server, name, value)
    server.looks = 0
    ready = prepared(server, run)
    write(ready.plan, ready.meta, run / "ledger.sqlite", ready.spec)
    submit_all(run, print)
    assert ["completed"] == [x.batch.status for x in looks(run, print)]
    out = tmp_path / "out.jsonl"
    out.write_bytes(server.files[server.batches["batch_1"]["output_file_id"]][1])
    return run, out
