"""The mended judges that are tried, made of what the training half says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import Item, JudgeSpec, Policy
from judgeaudit.core.table import VerdictTable
from judgeaudit.cure.harden_choices import best_threshold, few_examples, rank_wordings
from judgeaudit.cure.harden_records import Skipped, Strategy, Wording
from judgeaudit.engine.identity import RunMeta
from judgeaudit.judges._hardening import INCOMING, BaseJudge, HardenedConfig

__all__ = ["STRATEGIES", "Candidates", "Made", "Training", "base_judge", "make_candidates"]

STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)


@dataclass(frozen=True, slots=True)
class Made:
    """A candidate before it is tried: its config, and what it does in a sentence."""

    strategy: Strategy
    config: HardenedConfig
    what: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is tried, what is not and why, and how the wordings ranked."""

    made: tuple[Made, ...]
    skipped: tuple[Skipped, ...]
    wordings: tuple[Wording, ...]


def base_judge(judge: JudgeSpec, template: str | None) -> BaseJudge:
    """Write the judge of a run as choices, for a config.

    Parameters
    ----------
    judge : JudgeSpec
        The run's judge.
    template : str, optional
        Path of its prompt template, where it is none that ships.

    Raises
    ------
    ConfigError
        If it cannot be named so that it is the same judge again.
    """
    from judgeaudit.judges import _choice as choice
    from judgeaudit.policy.prompts import judge_template_names, load_judge_template

    if judge.backend in {"hardened", "replay", "imported"}:
        raise ConfigError(
            f"a judge of the backend {judge.backend!r} cannot be hardened: it cannot be asked anew",
            mend="Harden the judge that it stands for",
        )
    name = judge.model if judge.backend == "litellm" else f"{judge.backend}:{judge.model}"
    shipped = judge.template_id in judge_template_names()
    if template is None and not shipped:
        raise ConfigError(
            f"the judge was asked with a template of your own, {judge.template_id!r}",
            mend="Give its file as --template",
        )
    local = judge.backend == "local"
    base = BaseJudge(
        judge=name,
        api_base=judge.api_base,
        template=template or judge.template_id,
        output_format=None if local or judge.output_format == "plain" else judge.output_format,
        decoding=dict(judge.decoding),
        send_seed=None if local else judge.sends_seed or None,
    )
    again = choice.judge_spec(base.choices("en"), load_judge_template(base.template or ""))
    if again.sha256 != judge.sha256:
        old, new = judge.model_dump(mode="json"), again.model_dump(mode="json")
        differs = ", ".join(k for k in old if old[k] != new[k])
        raise ConfigError(
            f"the judge of the run is not the one of this name here: {differs} differ",
            where=name,
            mend="Audit it anew, then harden that run",
        )
    return base


@dataclass(frozen=True, slots=True)
class Training:
    """All that a choice may rest on.

    Parameters
    ----------
    table, items
        The training half.
    meta : RunMeta
        Of the run.
    policy, policy_name
        The run's policy, and what a config calls it.
    base : BaseJudge
        The judge that is hardened.
    panel : int
        Wordings beside the incoming one in a panel.
    examples : int
        Worked examples.
    seed : int
        Of the draw of examples.
    """

    table: VerdictTable
    items: Sequence[Item]
    meta: RunMeta
    policy: Policy
    policy_name: str
    base: BaseJudge
    panel: int = 2
    examples: int = 4
    seed: int = 0


def make_candidates(strategies: Sequence[str], training: Training) -> Candidates:
    """Make the candidates; all that can be tried where no strategy is named.

    Raises
    ------
    ConfigError
        An unknown strategy; lists the known ones.
    """
    for name in strategies:
        if name not in STRATEGIES:
            raise ConfigError(unknown_name("strategy", name, list(STRATEGIES)))
    maker = _Maker(training)
    wanted = [s for s in STRATEGIES if s in strategies] if strategies else list(STRATEGIES)
    made: list[Made] = []
    skipped: list[Skipped] = []
    for strategy in wanted:
        found = getattr(maker, strategy)()
        if isinstance(found, Made):
            made.append(found)
        else:
            skipped.append(Skipped(strategy=strategy, why=found))
    return Candidates(tuple(made), tuple(skipped), maker.ranked)


class _Maker:
    def __init__(self, training: Training) -> None:
        self._given = training
        self.table, self.items, self.base = training.table, training.items, training.base
        table, meta, policy = training.table, training.meta, training.policy
        self._common = {
            "policy": training.policy_name,
            "language": policy.language,
            "policy_sha256": policy.sha256,
            "base": training.base,
        }
        certified = {(r.condition, r.wording) for r in meta.renderings if r.certified}
        kinds = {c.id: c.kind for c in meta.protocol.conditions}
        counts = {
            name if wording == 0 else f"{name}/{wording}": table.column_counts([k])
            for k, (name, wording) in enumerate(table.columns)
            if kinds.get(name) in {"reference", "certified"} and (name, wording) in certified
        }
        self.ranked = rank_wordings(counts)
        self._conditions = [c.id for c in meta.protocol.conditions if c.kind == "certified"]

    def _config(self, name: str, **fields: object) -> HardenedConfig:
        return HardenedConfig.model_validate(
            {"name": name, "strategy": name, **self._common, **fields}
        )

    def canonical(self) -> Made | str:
        if not self.ranked:
            return "no certified wording has a verdict in the training half"
        best = self.ranked[0].wording
        config = self._config("canonical", reads="base", wordings=(best,))
        return Made(
            "canonical",
            config,
            f"asks under {best} instead of any wording of this policy; other texts as they came",
        )

    def normalise(self) -> Made | str:
        if not self.ranked:
            return "no certified wording has a verdict in the training half"
        best = self.ranked[0].wording
        config = self._config("normalise", reads="any", wordings=(best,))
        return Made(
            "normalise",
            config,
            "reads any text of a known policy back, also a stricter or more lenient one, and words "
            f"it anew as {best}",
        )

    def panel(self) -> Made | str:
        members = self._members()
        if isinstance(members, str):
            return members
        known = self._p_known()
        combine = "mean" if known else "majority"
        config = self._config("panel", wordings=(INCOMING, *members), combine=combine)
        how = "mean of P(UNSAFE)" if known else "majority"
        return Made("panel", config, f"{how} over the incoming wording, {', '.join(members)}")

    def abstain(self) -> Made | str:
        members = self._members()
        if isinstance(members, str):
            return members
        config = self._config("abstain", wordings=(INCOMING, *members), combine="unanimous")
        what = f"a verdict only where the incoming wording, {', '.join(members)} agree; else none"
        return Made("abstain", config, what)

    def threshold(self) -> Made | str:
        if not self._p_known():
            return "the run's base answers carry no P(UNSAFE): audit with --logprobs"
        assert self.table.p_unsafe is not None
        columns = self.table.column_indices("base")
        cells = self.table.p_unsafe[:, columns, :].reshape(self.table.n_items, -1)
        there = ~np.isnan(cells)
        total = there.sum(axis=1)
        p = np.where(total > 0, np.nansum(cells, axis=1) / np.maximum(total, 1), np.nan)
        bar = best_threshold(p, self.table.gold)
        if bar is None:
            return "the training half lacks a label of each kind"
        config = self._config("threshold", reads="nothing", threshold=bar)
        return Made("threshold", config, f"UNSAFE where P(UNSAFE) is above {bar:.3f}")

    def examples(self) -> Made | str:
        found = few_examples(
            self.items, self._given.examples, np.random.default_rng(self._given.seed)
        )
        if not found:
            return "the training half has no short, clear item of each label"
        config = self._config("examples", reads="nothing", examples=found)
        return Made("examples", config, f"{len(found)} worked examples stand before the question")

    def two_stage(self) -> Made | str:
        if self.base.judge.startswith(("local", "scripted", "control")):
            return "this judge answers with verdicts only, so it cannot list facts first"
        config = self._config("two_stage", reads="nothing", facts_first=True)
        return Made("two_stage", config, "lists facts without the policy, then judges these alone")

    def _members(self) -> tuple[str, ...] | str:
        """Choose a panel's wordings; one certified condition at least is kept out of it."""
        found = [w.wording for w in self.ranked if w.wording != "base"]
        most = min(self._given.panel, len({w.partition("/")[0] for w in found}) - 1)
        members: list[str] = []
        for wording in found:
            if len(members) < most and wording not in members:
                members.append(wording)
        taken = {w.partition("/")[0] for w in members}
        if not members or not set(self._conditions) - taken:
            return "a panel needs two certified conditions at least: one is kept out to measure it"
        return tuple(members)

    def _p_known(self) -> bool:
        p = self.table.p_unsafe
        if p is None:
            return False
        columns = self.table.column_indices("base")
        called = self.table.codes[:, columns, :] >= 0
        return bool(called.any()) and not bool(np.isnan(p[:, columns, :][called]).any())
