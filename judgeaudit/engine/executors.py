"""A plan on several processes or machines: shards by cluster, each with its own ledger, on Ray."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError, JudgeAuditError, LedgerError
from judgeaudit.core.records import AuditSpec
from judgeaudit.engine.budget import Amount, Caps, spent_before
from judgeaudit.engine.choices import price_of
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import signals
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.lock import RunLock, holder
from judgeaudit.engine.merge import merge
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.rebuild import remove, take_name
from judgeaudit.engine.remote import MakeJudge, Provider, Share, Worker, as_error
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.verify import refuse_damaged
from judgeaudit.engine.view import LedgerView

__all__ = ["run_on_ray", "shards_of"]

_LOOK: Final = 0.5
_LIVES: Final = 5
_PATIENCE: Final = 30.0


def shards_of(plan: Plan, n: int) -> list[NDArray[np.bool_]]:
    """Share a plan out: whole clusters, about as many calls each; the same on every machine.

    Parameters
    ----------
    plan : Plan
        What to share.
    n : int
        Shards; fewer where there are fewer clusters.

    Returns
    -------
    list of array of bool, shape (n_calls,)
        Each call is in exactly one.
    """
    names = [item.cluster for item in plan.items]
    index = {name: k for k, name in enumerate(sorted(set(names)))}
    cluster_of_item = np.array([index[name] for name in names], dtype=np.int64)
    cluster = cluster_of_item[plan.cells // len(plan.columns)]
    sizes = np.bincount(cluster, minlength=len(index))
    loads = np.zeros(min(n, len(index)), dtype=np.int64)
    shard = np.zeros(len(index), dtype=np.int64)
    # the largest first, each to whoever has least
    for k in np.argsort(-sizes, kind="stable").tolist():
        shard[k] = int(np.argmin(loads))
        loads[shard[k]] += sizes[k]
    return [shard[cluster] == k for k in range(loads.size)]


def run_on_ray(
    plan: Plan,
    meta: RunMeta,
    path: Path,
    spec: AuditSpec,
    *,
    limits: Limits,
    progress: Progress,
    make_judge: MakeJudge | None = None,
) -> RunSummary:
    """Ask the open calls of a plan with workers on Ray, and merge what they wrote.

    Workers write ledgers of their own beside `path`, on a disk that all of them share. A worker
    that is lost is replaced, and its successor goes on from its ledger: only what it had in flight
    is asked again. Ledgers that an earlier session left are merged first. One named actor holds
    window, rates, Retry-After and budget for all; each worker's first call is made alone.

    Parameters
    ----------
    plan, meta, path
        The run, and its ledger.
    spec : AuditSpec
        `workers`, the budget and the prices.
    limits : Limits
        For all workers together.
    progress : Progress
        Told of committed calls, about twice a second.
    make_judge : callable, optional
        (plan, limits) -> judge, called in the worker; what the plan's judge names by default.

    Raises
    ------
    JudgeAuditError
        As of `run_plan`: the first reason for which a worker had to stop. All others are drained,
        and everything answered is merged and kept.
    """
    ray = _ray()
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = RunLock(path)
    try:
        if path.exists():
            with LedgerView(path) as view:
                refuse_damaged(view)
        lock.fulfilled()
        return _Run(ray, plan, meta, path, spec, limits, progress, make_judge).go()
    finally:
        lock.release()


@dataclass(slots=True, eq=False)
class _Crew:
    """One shard and who works on it now."""

    share: Share
    who: str = ""
    worker: Any = None
    task: Any = None
    lives: int = _LIVES


@dataclass(slots=True, eq=False)
class _Run:
    ray: Any
    plan: Plan
    meta: RunMeta
    path: Path
    spec: AuditSpec
    limits: Limits
    progress: Progress
    make_judge: MakeJudge | None
    error: JudgeAuditError | None = None
    told: int = 0

    @property
    def shards(self) -> Path:
        """Folder of the workers' ledgers."""
        return self.path.with_name(self.path.name + ".shards")

    def go(self) -> RunSummary:
        """Ask, merge, and say what was done."""
        began = time.monotonic()
        _collect(self.path, self.shards)
        before, used, is_open = self._so_far()
        control, done = RunControl(), Counter[str]()
        cost: float | None = 0.0
        interrupted = False
        self.progress.begin(self.plan.n_calls, before)
        try:
            with (
                _cluster(self.ray, self.spec.workers),
                signals(control, self.progress, self.limits),
            ):
                for summary in self._work(used, is_open, control):
                    done["answered"] += summary.answered
                    done["failed"] += summary.failed
                    done["requests"] += summary.requests
                    done.update({f"={k}": n for k, n in summary.outcomes.items()})
                    cost = None if cost is None or summary.cost is None else cost + summary.cost
                    interrupted |= summary.interrupted
        finally:
            self.progress.end()
            _collect(self.path, self.shards)
        if self.error is not None:
            raise self.error
        with LedgerView(self.path) as view:
            now = view.n_answered
        return RunSummary(
            planned=self.plan.n_calls,
            answered_before=before,
            answered=now - before,
            failed=done["failed"],
            requests=done["requests"],
            outcomes={k[1:]: n for k, n in done.items() if k.startswith("=")},
            cost=cost,
            seconds=time.monotonic() - began,
            interrupted=control.interrupts > 0 and interrupted,
        )

    def _so_far(self) -> tuple[int, Amount, NDArray[np.bool_]]:
        is_open = np.ones(self.plan.n_calls, dtype=bool)
        if not self.path.exists():
            return 0, Amount(), is_open
        with LedgerView(self.path) as view:
            Ledger.check_same_run(view, self.meta, self.plan)
            is_open[:] = False
            is_open[view.open_positions()] = True
            return view.n_answered, spent_before(view, self._price()), is_open

    def _price(self) -> Any:
        return price_of(self.spec, self.plan.judge)

    def _work(
        self, used: Amount, is_open: NDArray[np.bool_], control: RunControl
    ) -> Iterator[RunSummary]:
        ray, spec = self.ray, self.spec
        caps = Caps(usd=spec.budget_usd, tokens=spec.budget_tokens, calls=spec.budget_calls)
        name = f"judgeaudit-{uuid.uuid4().hex[:12]}"
        provider = (
            ray.remote(Provider)
            .options(name=name, num_cpus=0, max_concurrency=10_000)
            .remote(self.limits, caps, used)
        )
        plan = ray.put(self.plan)
        crews = []
        for k, only in enumerate(shards_of(self.plan, spec.workers)):
            share = Share(
                meta=self.meta,
                path=self.shards / f"{k}.sqlite",
                only=only & is_open,
                # the window is the provider's; a worker has as many hands as could be needed
                limits=replace(self.limits, requests_per_minute=None, tokens_per_minute=None),
                price=self._price(),
                capped=bool(caps),
                make_judge=self.make_judge,
            )
            if share.only.any():
                crews.append(_Crew(share))
        for crew in crews:
            self._hire(crew, plan, provider)
        told = 0
        while busy := [c for c in crews if c.task is not None]:
            ready, _ = ray.wait([c.task for c in busy], num_returns=1, timeout=_LOOK)
            self._news(busy)
            if control.interrupts > told:
                told = control.interrupts
                self._interrupt(busy)
            for crew in busy:
                if crew.task in ready:
                    yield from self._ended(crew, plan, provider, crews)

    def _hire(self, crew: _Crew, plan: Any, provider: Any) -> None:
        crew.who = f"{crew.share.path.stem}-{crew.lives}"
        crew.worker = self.ray.remote(Worker).options(num_cpus=1).remote(crew.who, provider)
        crew.task = crew.worker.run.remote(plan, crew.share)

    def _ended(
        self, crew: _Crew, plan: Any, provider: Any, crews: list[_Crew]
    ) -> Iterator[RunSummary]:
        try:
            summary, failed = self.ray.get(crew.task)
        except self.ray.exceptions.RayActorError as error:
            provider.forget.remote(crew.who)
            crew.task, crew.lives = None, crew.lives - 1
            if crew.lives and self.error is None:
                self.progress.note(f"worker {crew.who} was lost; another goes on from its ledger")
                self._hire(crew, plan, provider)
            elif self.error is None:
                self._stop_all(LedgerError(f"worker after worker was lost ({error})"), crews)
            return
        crew.task = None
        self.ray.kill(crew.worker)
        if failed is not None:
            self._stop_all(as_error(failed), crews)
        else:
            yield summary

    def _stop_all(self, error: JudgeAuditError, crews: list[_Crew]) -> None:
        if self.error is None:
            self.error = error
            self._interrupt([c for c in crews if c.task is not None])

    def _interrupt(self, crews: list[_Crew]) -> None:
        for crew in crews:
            crew.worker.interrupt.remote()

    def _news(self, crews: list[_Crew]) -> None:
        for crew in crews:
            try:
                counted, lines = self.ray.get(crew.worker.news.remote(), timeout=5)
            except (self.ray.exceptions.RayActorError, self.ray.exceptions.GetTimeoutError):
                continue
            for outcome, cost in counted:
                self.progress.count(outcome, cost)
            for line in lines:
                self.progress.note(line)


def _collect(path: Path, shards: Path) -> None:
    """Merge the ledgers of workers into that of the run; killed at any moment, nothing is lost.

    The merged file takes the old one's place before the shards are removed. A session that dies
    in between finds them again: merging a ledger twice changes nothing.
    """
    found = sorted(shards.glob("*.sqlite")) if shards.is_dir() else []
    deadline = time.monotonic() + _PATIENCE
    while any(holder(f) for f in found) and time.monotonic() < deadline:
        time.sleep(0.2)  # workers of a session that was killed take a moment to end
    if found:
        sources = ([path] if path.exists() else []) + found
        side = path.with_name(path.name + ".merging")
        remove(side)
        if len(sources) > 1:
            merge(sources, side, held=path)
        else:
            with LedgerView(found[0]) as view:
                # through SQLite, so that a -wal which a kill left behind is read too
                view.connection.execute("VACUUM INTO ?", (str(side),))
        take_name(side, path, replace=True)
    shutil.rmtree(shards, ignore_errors=True)


@contextmanager
def _cluster(ray: Any, workers: int) -> Iterator[None]:
    """Join the cluster that is there (RAY_ADDRESS), or start one on this machine and end it."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
        )
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    # read at import: without it a cluster that starts here reports its use to Ray's makers
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise ConfigError(
            "the executor 'ray' needs Ray, which is not installed",
            mend='pip install "judgeaudit[ray]"',
        ) from None
    return ray
