"""What a judge knows of itself, asked of a real server after a run, killed, resumed and compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from judge_world import DOORS, both_doors
from knowing_world import N, corpus, hard, knowing
from loopback import Answer, Loopback, completion
from typer.testing import CliRunner

from judgeaudit import audit, cards
from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError, JudgeError, LedgerError
from judgeaudit.core.records import AuditSpec, ScoreSet
from judgeaudit.engine.ledger import Ledger
from judgeaudit.review.followup import answers_of, ask_after, judge_for, ledger_of
from judgeaudit.review.knowing import knowledge_of_run
from judgeaudit.review.questions import questions_of

K = 4
N_HARD = sum(map(hard, range(1, N + 1)))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with Loopback(knowing) as made:
        yield made


def judged(server, tmp_path, *, model=DOORS[1], n=N, datasets=1, **more):
    """Make a run of base calls alone."""
    found = audit.run(
        judge=model,
        api_base=server.api_base,
        corpus="jsonl",
        data=str(corpus(tmp_path / "own.jsonl", n, datasets=datasets)),
        conditions=("base",),
        base_repeats=K,
        repeats=1,
        out=tmp_path / "run",
        **more,
    )
    return found.folder


def told(*args):
    result = CliRunner().invoke(app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def compared(folder, *args) -> ScoreSet:
    return ScoreSet.model_validate_json(told("confidence", folder, "--json", *args).stdout)


def value(found: ScoreSet, metric: str, source: str) -> float | None:
    (score,) = [s for s in found.scores if (s.metric, s.stratum) == (metric, source)]
    return score.value


@both_doors
def test_p_true_is_asked_of_every_base_verdict_below_its_own_answer(server, tmp_path, model):
    folder = judged(server, tmp_path, model=model, n=10)
    before = server.n_requests
    out = told("ask-confidence", folder, "--source", "p_true")
    assert 10 * K == server.n_requests - before
    assert "40 of 40 answers" in out.stdout
    body = server.seen[-1].body
    assert ["assistant", "user"] == [m["role"] for m in body["messages"]][-2:]
    assert json.loads(body["messages"][-2]["content"])["verdict"] in body["messages"][-1]["content"]
    assert body["logprobs"] is True
    assert "response_format" not in body
    answers = answers_of(folder, "p_true")
    assert answers is not None
    for (key, repeat), answer in answers.items():
        wrong = hard(int(key.rsplit("c", 1)[1]))
        assert (not wrong, pytest.approx(0.2 if wrong else 0.9)) == (answer.said, answer.p_true)
        assert repeat in range(K)


def test_a_judge_that_is_gone_is_an_outage_and_no_mistake(tmp_path):
    with Loopback(knowing) as server:
        folder = judged(server, tmp_path, model=DOORS[1], n=4)
    with pytest.raises(JudgeError, match="no server answers at") as caught:
        told("ask-confidence", folder, "--source", "p_true")
    assert caught.value.exit_code == 3
    assert not ledger_of(folder, "p_true").exists()
    # one that is named here and is not there is a mistake of who named it
    other = ("--judge", "direct:other", "--api-base", "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError) as mistake:
        told("ask-confidence", folder, "--source", "entailment", *other)
    assert mistake.value.exit_code == 2


def test_p_ik_is_asked_once_an_item_before_any_verdict(server, tmp_path):
    folder = judged(server, tmp_path, n=10)
    before = server.n_requests
    told("ask-confidence", folder, "--source", "p_ik")
    assert 10 == server.n_requests - before
    assert "assistant" not in {m["role"] for s in server.seen[before:] for m in s.body["messages"]}


def test_every_source_is_compared_by_itself(server, tmp_path):
    folder = judged(server, tmp_path)
    for source in ("p_true", "p_ik"):
        told("ask-confidence", folder, "--source", source)
    found = compared(folder)
    right = (N - N_HARD) / N
    # planted: .9 on right and .2 on wrong verdicts; .8 on easy and .3 on hard items; .75 always
    mean_true, mean_ik = 0.9 * right + 0.2 * (1 - right), 0.8 * right + 0.3 * (1 - right)
    for source, auroc, mean in (
        ("p_true", 1.0, mean_true),
        ("p_ik", 1.0, mean_ik),
        ("stated", 0.5, 0.75),
        ("repeats", 0.5, 1.0),
    ):
        assert auroc == pytest.approx(value(found, "knowledge_auroc", source))
        assert mean - right == pytest.approx(value(found, "knowledge_gap", source), abs=1e-6)
    brier = right * 0.1**2 + (1 - right) * 0.2**2
    assert brier == pytest.approx(value(found, "knowledge_brier", "p_true"))
    assert value(found, "knowledge_gap", "semantic_entropy_discrete") is None
    (gap,) = [s for s in found.scores if (s.metric, s.stratum) == ("knowledge_gap", "stated")]
    assert right - 0.75 == pytest.approx(gap.detail["ece_top_label"])
    assert (N, N) == (gap.n_items, gap.n_clusters)
    assert gap.low is not None
    assert gap.low < gap.value < gap.high
    assert {} == {k: v for k, v in found.reasons.items() if k != "p_ik_learned"}


def test_learnt_knowledge_tells_murky_items_and_a_dataset_it_never_saw(server, tmp_path):
    pytest.importorskip("sklearn")
    folder = judged(server, tmp_path, datasets=2)
    found = compared(folder)
    for source in ("p_ik_learned", "p_ik_learned_elsewhere"):
        for where in ("", ", on d0", ", on d1"):
            assert 1.0 == value(found, "knowledge_auroc", f"{source}{where}")


def test_semantic_entropy_by_words_and_by_a_model_that_was_asked(server, tmp_path):
    """Hard items: two meanings take turns. Elsewhere one meaning in two wordings."""
    folder = judged(server, tmp_path, concurrency=1)
    before = server.n_requests
    with pytest.raises(ConfigError, match="was not asked"):
        compared(folder, "--entailment", "asked")
    other = ("--judge", "direct:toy", "--api-base", server.api_base)
    told("ask-confidence", folder, "--source", "entailment", *other)
    # two different reasons an item, in both directions; equal ones are not asked about
    assert 2 * N == server.n_requests - before
    name = "semantic_entropy_discrete"
    by_model, by_words = compared(folder, "--entailment", "asked"), compared(folder)
    assert 1.0 == value(by_model, "knowledge_auroc", name)
    # the rule of words takes two wordings for two meanings, and so tells nothing
    assert 0.5 == value(by_words, "knowledge_auroc", name)
    (score,) = [s for s in by_words.scores if (s.metric, s.stratum) == ("knowledge_auroc", name)]
    assert "lexical rule, no model" in (score.note or "")
    assert "discrete" in (score.note or "")


def test_a_rule_of_ones_own_can_compare_reasons(server, tmp_path):
    class First:
        name = "first letters"

        def __call__(self, premise: str, hypothesis: str) -> bool:
            return premise[0] == hypothesis[0]

    folder = judged(server, tmp_path, concurrency=1)
    with Ledger.open_readonly(folder / "ledger.sqlite") as view:
        found = knowledge_of_run(view, folder, rule=First())
    made = ScoreSet(scores=found.scores)
    assert 1.0 == value(made, "knowledge_auroc", "semantic_entropy_discrete")


def test_entailment_that_is_half_answered_leaves_items_out(server, tmp_path):
    folder = judged(server, tmp_path, n=10, concurrency=1)
    with pytest.raises(JudgeError, match="budget"):
        told("ask-confidence", folder, "--source", "entailment", "--budget-calls", "7")
    found = compared(folder, "--entailment", "asked")
    (score,) = [
        s
        for s in found.scores
        if (s.metric, s.stratum) == ("knowledge_auroc", "semantic_entropy_discrete")
    ]
    assert 0 < score.n_items < 10


def test_a_spent_budget_stops_and_the_same_command_goes_on(server, tmp_path):
    folder = judged(server, tmp_path, n=6)
    before = server.n_requests
    ask = ("ask-confidence", folder, "--source", "p_true", "--concurrency", "1")
    with pytest.raises(JudgeError, match="budget"):
        told(*ask, "--budget-calls", "5")
    assert 5 == server.n_requests - before
    told(*ask)
    assert 6 * K == server.n_requests - before
    told(*ask)
    assert 6 * K == server.n_requests - before
    with Ledger.open_readonly(ledger_of(folder, "p_true")) as view:
        assert 6 * K == view.n_answered


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 20])
def test_a_killed_session_loses_and_doubles_nothing(server, tmp_path, after):
    folder = judged(server, tmp_path)
    server.latency, before = 0.05, dict(server.by_prompt)
    command = [sys.executable, "-m", "judgeaudit", "ask-confidence", str(folder)]
    command += ["--source", "p_true", "--concurrency", "4"]
    path = ledger_of(folder, "p_true")
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}
    ) as child:
        for _ in range(3000):
            if path.exists():
                try:
                    with Ledger.open_readonly(path) as view:
                        if view.n_answered >= after:
                            break
                except LedgerError:
                    pass  # in the making
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
    with Ledger.open_readonly(path) as view:
        kept = view.n_answered
    assert after <= kept < N * K
    server.latency = 0.0
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    asked = {p: n - before.get(p, 0) for p, n in server.by_prompt.items()}
    # requests in flight at the kill are asked again, and no others
    assert N * K <= sum(asked.values()) <= N * K + 4
    assert 0 == told("ledger", "verify", path).exit_code
    assert {0.2, 0.9} == {round(a.p_true, 6) for a in (answers_of(folder, "p_true") or {}).values()}


def test_a_server_that_tells_no_log_probabilities_gives_no_confidence(tmp_path):
    def silent(body, n, k):
        answer = knowing(body, n, k)
        answer.body["choices"][0].pop("logprobs", None)
        return answer

    with Loopback(silent) as server:
        folder = judged(server, tmp_path, n=4)
        told("ask-confidence", folder, "--source", "p_true")
        found = compared(folder)
    assert not [s for s in found.scores if s.stratum == "p_true"]
    assert "no call has a" in found.reasons["p_true"]


def test_an_answer_that_is_neither_true_nor_false_is_no_answer(tmp_path):
    def evades(body, n, k):
        last = body["messages"][-1]["content"]
        return (
            Answer(body=completion("Perhaps."))
            if "Is this verdict" in last
            else knowing(body, n, k)
        )

    with Loopback(evades) as server:
        folder = judged(server, tmp_path, n=3)
        told("ask-confidence", folder, "--source", "p_true")
    answers = answers_of(folder, "p_true")
    assert answers is not None
    assert {(None, None)} == {(a.said, a.p_true) for a in answers.values()}


def test_a_scripted_judge_knows_nothing_of_itself(tmp_path):
    found = audit.run(judge="scripted:quiet", preset="quick", limit=4, out=tmp_path / "run")
    with pytest.raises(ConfigError, match="cannot be asked"):
        told("ask-confidence", found.folder, "--source", "p_true")
    sources = {s.stratum for s in compared(found.folder).scores}
    assert {"stated", "repeats", "semantic_entropy_discrete"} <= sources


def test_only_the_runs_own_judge_is_asked_about_itself(server, tmp_path):
    folder = judged(server, tmp_path, n=2)
    with pytest.raises(ConfigError, match="only the run's own judge"):
        told("ask-confidence", folder, "--source", "p_ik", "--judge", "direct:other")
    with pytest.raises(ConfigError, match="p_truth"):
        told("ask-confidence", folder, "--source", "p_truth")


def test_answers_on_other_verdicts_are_refused(server, tmp_path):
    """A run that was gone on with has more verdicts: its old answers are of another plan."""
    with pytest.raises(JudgeError, match="budget"):
        judged(server, tmp_path, n=6, budget_calls=8, concurrency=1)
    folder = tmp_path / "run"
    told("ask-confidence", folder, "--source", "p_true")
    judged(server, tmp_path, n=6)
    with pytest.raises(LedgerError, match="another run"):
        told("ask-confidence", folder, "--source", "p_true")


def test_a_prompt_that_cannot_be_rebuilt_as_it_was_sent_is_not_asked(server, tmp_path, monkeypatch):
    folder = judged(server, tmp_path, n=2)
    monkeypatch.setattr("judgeaudit.policy.prompts.NO_TEXT", "(nothing)")
    from judgeaudit.policy import prompts

    monkeypatch.setattr(prompts, "trajectory_text", lambda _t, _f: "another wording")
    prompts._record.cache_clear()
    with (
        Ledger.open_readonly(folder / "ledger.sqlite") as view,
        pytest.raises(LedgerError, match="rebuilt"),
    ):
        questions_of(view, "p_true")
    prompts._record.cache_clear()


def test_the_run_itself_stays_as_it_was(server, tmp_path):
    folder = judged(server, tmp_path, n=3)
    path = folder / "ledger.sqlite"
    with Ledger.open_readonly(path) as view:
        before = view.content_sha256(), view.head()
        spec = AuditSpec(judge="direct:toy", api_base=server.api_base)
        ask_after(view, folder, "p_ik", spec)
        assert judge_for(view, "p_ik").sha256 != view.meta.judge.sha256
    with Ledger.open_readonly(path) as view:
        assert before == (view.content_sha256(), view.head())


def test_the_card_shows_it_where_it_is_asked_for(server, tmp_path):
    folder = judged(server, tmp_path)
    told("ask-confidence", folder, "--source", "p_true")
    card = audit.card(folder, confidence="lexical")
    for page in (cards.to_markdown(card), cards.to_html(card)):
        assert "What the judge knows of itself" in page
        assert "p_true" in page
    assert "What the judge knows of itself" not in cards.to_markdown(audit.card(folder))
    assert card == cards.from_json(cards.to_json(card))
