"""A card's numbers in MLflow: what is a number as a metric, what has none as a tag with the reason.

The only module that knows `mlflow` (extra `judgeaudit[mlflow]`). Nothing is sent anywhere but to
the tracking store that the user names: MLflow's own telemetry is switched off. See
`docs/decisions/0816-mlflow.md`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from judgeaudit.cards.files import write
from judgeaudit.cards.model import JudgeCard
from judgeaudit.core.errors import CardError, ConfigError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import Score

__all__ = ["EXPERIMENT", "Logged", "log_card", "metrics_of", "params_of", "undefined_of"]

EXPERIMENT: Final = "judgeaudit"
"""The experiment that runs are logged under where none is named."""

_TAG: Final = "judgeaudit.card_sha256"
# no slashes: in a store of files a/b and a/b/c could not stand beside each other
_ODD: Final = re.compile(r"[^A-Za-z0-9_. -]+")
_NAME: Final = 240
_VALUE: Final = 480
_BATCH: Final = 90  # servers take 1,000 metrics, but 100 params and 100 tags at once


@dataclass(frozen=True, slots=True)
class Logged:
    """Where a card was logged.

    Parameters
    ----------
    run_id, experiment : str
        As MLflow names them.
    n_metrics, n_undefined : int
        Numbers logged, ends of intervals included; figures without a value.
    new : bool
        False: the same card was there already, and nothing was written.
    """

    run_id: str
    experiment: str
    n_metrics: int
    n_undefined: int
    new: bool = True


def metrics_of(card: JudgeCard) -> dict[str, float]:
    """Return the numbers of a card by name; figures without a value are not among them.

    A name is `metric.condition.stratum.treatment` without what is not there and without the usual
    treatment; ends of an interval are `<name>.ci_low` and `<name>.ci_high`.
    """
    out: dict[str, float] = {}
    for name, score in _named(card):
        if score.value is None:
            continue
        out[name] = score.value
        if score.low is not None and score.high is not None:
            out |= {f"{name}.ci_low": score.low, f"{name}.ci_high": score.high}
    facts = card.facts
    out |= {"calls.planned": facts.n_planned, "calls.answered": facts.n_answered}
    for key in ("cost", "seconds", "prompt_tokens", "completion_tokens"):
        if (value := getattr(facts, key)) is not None:
            out[f"run.{key}"] = value
    return {k: float(v) for k, v in out.items()}


def undefined_of(card: JudgeCard) -> dict[str, str]:
    """Return why figures have no value, by name: they are tags, so that no 0 stands for them."""
    reasons = {n: s.why_undefined for n, s in _named(card) if s.why_undefined is not None}
    return {f"undefined.{name}": _short(why) for name, why in reasons.items()}


def params_of(card: JudgeCard) -> dict[str, str]:
    """Return what was asked, whom, and about what."""
    facts, protocol = card.facts, card.facts.protocol
    judge = facts.judge
    out: dict[str, Any] = {
        "judge": f"{judge.backend}:{judge.model}",
        "judge.sha256": facts.judge_sha256,
        "judge.output_format": judge.output_format,
        "judge.template": judge.template_id,
        "judge.template_sha256": judge.template_sha256,
        **{f"judge.decoding.{k}": json.dumps(v) for k, v in judge.decoding.items()},
        "policy": facts.policy.id,
        "policy.sha256": facts.policy.sha256,
        "corpus": facts.corpus.name,
        "corpus.subset": facts.corpus.subset,
        "corpus.sha256": facts.corpus.sha256,
        "items": facts.corpus.n_items,
        "protocol": protocol.preset,
        "protocol.sha256": facts.protocol_sha256,
        "protocol.base_repeats": protocol.base_repeats,
        "protocol.repeats": protocol.repeats,
        "protocol.conditions": ", ".join(c.id for c in protocol.conditions),
        "protocol.seed": protocol.seed,
        "judgeaudit": card.software.version,
    }
    return {_name(k): _short(str(v)) for k, v in out.items() if v not in {None, ""}}


def log_card(
    card: JudgeCard,
    tracking_uri: str,
    *,
    experiment: str = EXPERIMENT,
    run_name: str | None = None,
) -> Logged:
    """Log a card as one run of an MLflow experiment: metrics, params, tags and the card's files.

    Parameters
    ----------
    card : JudgeCard
        The card.
    tracking_uri : str
        A tracking store: a folder, `sqlite:///mlflow.db`, or the address of a server.
    experiment : str
        Its name; made where it is not there.
    run_name : str, optional
        By default judge and time.

    Returns
    -------
    Logged
        Where the same card is there already, that run, and nothing is written.

    Raises
    ------
    ConfigError
        MLflow is not installed, or the address is none.
    CardError
        The store refuses, or does not answer; the run is then marked as failed there.
    """
    if not tracking_uri.strip():
        raise ConfigError("no tracking store is named", mend="Give --tracking-uri")
    client, errors = _client(tracking_uri)
    metrics, undefined, params = metrics_of(card), undefined_of(card), params_of(card)
    mark = sha256_of(card)
    try:
        number = _experiment(client, experiment)
        found = client.search_runs(
            [number], f"tags.`{_TAG}` = '{mark}' and attributes.status = 'FINISHED'", max_results=1
        )
        counts = len(metrics), len(undefined)
        if found:
            return Logged(found[0].info.run_id, experiment, *counts, new=False)
        at = int(datetime.fromisoformat(card.created).timestamp() * 1000)
        name = run_name or f"{card.facts.judge.model} {card.created[:16]}"
        run_id = client.create_run(number, tags={_TAG: mark}, run_name=_short(name)).info.run_id
        try:
            _fill(client, run_id, _entities(at, metrics, params, _tags(card) | undefined))
            with tempfile.TemporaryDirectory(prefix="judgeaudit-card-") as folder:
                write(card, folder)
                client.log_artifacts(run_id, folder)
        except BaseException:
            client.set_terminated(run_id, "FAILED")
            raise
        client.set_terminated(run_id)
    except errors as error:
        words = " ".join(str(error).split())[:300]
        made = CardError(
            f"the card cannot be logged: {type(error).__name__}: {words}",
            where="MLflow",
            mend="Look whether the store is there and takes what is written",
        )
        made.exit_code = 3
        raise made from None
    return Logged(run_id, experiment, *counts)


def _client(tracking_uri: str) -> tuple[Any, tuple[type[Exception], ...]]:
    # read at import: otherwise use of it is reported to its makers
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise ConfigError(
            f"logging to MLflow needs a package that is not installed ({error.name})",
            mend="Install it with `pip install 'judgeaudit[mlflow]'`",
        ) from None
    errors = (MlflowException, OSError, ImportError)
    try:
        return MlflowClient(tracking_uri=tracking_uri), errors
    except errors as error:
        words = " ".join(str(error).split())[:300]
        raise ConfigError(
            f"MLflow cannot use this tracking store: {words}", mend="Correct --tracking-uri"
        ) from None


def _experiment(client: Any, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found is not None else client.create_experiment(name))


def _entities(
    at: int, metrics: Mapping[str, float], params: Mapping[str, str], tags: Mapping[str, str]
) -> dict[str, Sequence[Any]]:
    from mlflow.entities import Metric, Param, RunTag

    return {
        "metrics": [Metric(k, v, at, 0) for k, v in metrics.items()],
        "params": [Param(k, v) for k, v in params.items()],
        "tags": [RunTag(k, v) for k, v in tags.items()],
    }


def _fill(client: Any, run_id: str, entities: Mapping[str, Sequence[Any]]) -> None:
    for kind, all_of in entities.items():
        for k in range(0, len(all_of), _BATCH):
            client.log_batch(run_id, **{kind: list(all_of[k : k + _BATCH])})


def _tags(card: JudgeCard) -> dict[str, str]:
    serious = [w.code for w in card.warnings if w.severity == "serious"]
    return {
        "judgeaudit.headline": _short(card.headline.sentence),
        "judgeaudit.stance": card.headline.stance,
        "judgeaudit.serious": ", ".join(serious) or "none",
        "judgeaudit.ledger_sha256": card.facts.ledger_sha256,
        "judgeaudit.schema_version": card.schema_version,
    }


def _named(card: JudgeCard) -> Iterator[tuple[str, Score]]:
    seen: dict[str, int] = {}
    for score in card.scores.scores:
        treatment = "" if score.treatment == "exclude" else score.treatment
        parts = (score.metric, score.condition, score.stratum, treatment)
        name = _name(".".join(_ODD.sub("-", p).strip("-") for p in parts if p))
        # names that came out alike stay apart
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name}.{seen[name]}"), score


def _name(text: str) -> str:
    return _ODD.sub("-", text).strip(".")[:_NAME] or "unnamed"


def _short(text: str) -> str:
    kept = " ".join(text.split())
    return kept if len(kept) <= _VALUE else kept[: _VALUE - 1] + "…"
