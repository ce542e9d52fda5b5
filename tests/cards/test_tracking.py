"""Cards in MLflow: numbers are metrics, what has none is a tag, and a card is logged once."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

from judgeaudit import audit
from judgeaudit.cards.jsonio import to_json
from judgeaudit.cards.tracking import log_card, metrics_of, params_of, undefined_of
from judgeaudit.core.errors import ConfigError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    audit.run(judge="scripted:brittle_t4", preset="quick", out=out)
    return out


@pytest.fixture(scope="module")
def card(folder):
    return audit.card(folder)


def test_each_number_is_a_metric_and_what_has_none_is_told_why(card):
    metrics, undefined = metrics_of(card), undefined_of(card)
    with_value = [s for s in card.scores.scores if s.value is not None]
    without = [s for s in card.scores.scores if s.value is None]
    assert without
    values = {k: v for k, v in metrics.items() if not k.endswith((".ci_low", ".ci_high"))}
    about_the_run = {k for k in values if k.startswith(("calls.", "run."))}
    assert len(values) - len(about_the_run) == len(with_value)
    assert len(undefined) == len(without)
    assert all(math.isfinite(v) for v in metrics.values())
    assert all(undefined.values())
    assert not {k.removeprefix("undefined.") for k in undefined} & metrics.keys()
    base = card.scores.find("unsafe_rate", "base")
    assert metrics["unsafe_rate.base"] == base.value
    assert metrics["unsafe_rate.base.ci_low"] == base.low


def test_names_are_ones_that_a_store_takes(card):
    for name in [*metrics_of(card), *undefined_of(card), *params_of(card)]:
        assert len(name) <= 250
        assert not {*name} - {*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_. -"}
        assert name.strip(".") == name


def test_without_the_extra_it_says_how_to_get_it(card, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ConfigError, match=r"judgeaudit\[mlflow\]"):
        log_card(card, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "sqlite"])
def test_a_card_is_logged_once_and_can_be_read_back(card, folder, tmp_path, kind):
    pytest.importorskip("mlflow")
    if kind == "sqlite":
        pytest.importorskip("sqlalchemy")
        pytest.importorskip("alembic")
    store = tmp_path / "store"
    uri = f"sqlite:///{store}.db" if kind == "sqlite" else store.as_uri()
    code = (
        "import os, sys; os.chdir(sys.argv[1]); os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'\n"
        "from judgeaudit.cli.main import run; sys.argv = ['judgeaudit', *sys.argv[2:]]; run()"
    )
    words = [sys.executable, "-c", code, str(tmp_path), "card", "log-mlflow", str(folder)]
    words += ["--tracking-uri", uri, "--experiment", "nightly"]
    said = [subprocess.run(words, capture_output=True, text=True, check=True) for _ in range(2)]
    assert "logged: " in said[0].stdout
    assert "there already" in said[1].stdout
    read = (
        "import json, os, sys; os.chdir(sys.argv[2])\n"
        "os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'\n"
        "os.environ['MLFLOW_DISABLE_TELEMETRY'] = 'true'\n"
        "from mlflow.tracking import MlflowClient\n"
        "c = MlflowClient(sys.argv[1]); e = c.get_experiment_by_name('nightly').experiment_id\n"
        "(r,) = c.search_runs([e])\n"
        "text = open(c.download_artifacts(r.info.run_id, 'card.json'), encoding='utf-8').read()\n"
        "print(json.dumps([r.data.metrics, r.data.params, r.data.tags, r.info.status, text]))"
    )
    asked = [sys.executable, "-c", read, uri, str(tmp_path)]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    metrics, params, tags, status, text = json.loads(told.strip().splitlines()[-1])
    assert metrics == pytest.approx(metrics_of(card))
    assert params == params_of(card)
    assert undefined_of(card).items() <= tags.items()
    assert (status, text) == ("FINISHED", to_json(card))
