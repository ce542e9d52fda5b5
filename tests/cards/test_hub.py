"""The model card of a hub, as the hub's own library reads it."""

from __future__ import annotations

import re

import pytest
import yaml
from card_hostile import HOSTILE, hostile_run
from card_runs import CASES, QUIET, facts, numbers, run
from huggingface_hub import ModelCard

from judgeaudit import cards
from judgeaudit.cards.hub import metadata


def read(card: cards.JudgeCard) -> ModelCard:
    return ModelCard(cards.to_hub(card), ignore_metadata_errors=False)


def test_the_hubs_library_reads_each_defined_figure_with_its_interval(any_run):
    card = any_run.card()
    got = read(card).data.eval_results or []
    shown = metadata(card).get("model-index", [{"results": [{"metrics": []}]}])
    wanted = shown[0]["results"][0]["metrics"]
    assert len(wanted) == len(got)
    for result, metric in zip(got, wanted, strict=True):
        assert metric["value"] == result.metric_value
        assert metric["type"] == result.metric_type
        assert metric["args"] == result.metric_args
        assert result.dataset_args["n_items"] == card.facts.corpus.n_items


def test_the_figures_are_those_of_the_card():
    card = CASES["good"]().card()
    pis = next(r for r in read(card).data.eval_results if r.metric_type == "pis")
    assert 0.9 == pis.metric_value
    assert (0.71, 0.97) == (pis.metric_args["low"], pis.metric_args["high"])


@pytest.mark.parametrize("name", ["always_safe", "failed", "no_ambiguity"])
def test_an_undefined_score_is_no_result(name):
    got = read(CASES[name]().card()).data.eval_results or []
    assert "pis" not in {r.metric_type for r in got}


def test_a_score_that_the_card_withholds_is_no_result():
    card = run(numbers(QUIET), {"responsiveness": "not shown"}).card()
    assert "pis" not in {r.metric_type for r in read(card).data.eval_results}


def test_headline_and_serious_warnings_stand_in_the_metadata():
    card = CASES["incomplete"]().card()
    told = read(card).data.to_dict()["judgeaudit"]
    assert set(told["serious_warnings"]) == {"incomplete", "served_changed", "uncertified"}
    assert told["headline"] == card.headline.sentence


def test_the_text_is_the_cards_markdown():
    card = CASES["good"]().card()
    assert cards.to_hub(card).endswith(f"---\n\n{cards.to_markdown(card)}")


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_texts_stay_values_of_the_metadata(name):
    card = hostile_run(HOSTILE[name]).card()
    text = cards.to_hub(card)
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)[1]
    found = yaml.safe_load(head)
    assert set(found) <= {"tags", "pipeline_tag", "judgeaudit", "model-index"}
    assert found == metadata(card)
    assert len(found["model-index"]) == 1
    assert read(card).data.to_dict()["tags"][0] == "judgeaudit"


@pytest.mark.parametrize(
    "text", ["---", "x\n---\ny", "- a: b", "{a: 1}", "!!python/x", "&a *a", "no"]
)
def test_yaml_in_a_name_is_a_name(text):
    corpus = facts().corpus.model_copy(update={"name": text, "title": text})
    card = run(numbers(QUIET), corpus=corpus).card()
    found = read(card).data.eval_results[0]
    assert " ".join(text.split()) == found.dataset_name
