"""The self-test from end to end: engine, tables, and what failed by name."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.selftest.engine import JUDGES, Check, run_engine
from judgeaudit.selftest.simulate import Row, simulate
from judgeaudit.selftest.worlds import WORLDS

__all__ = ["FULL", "QUICK", "Result", "Size", "run"]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: items an audit, and audits a planted judge."""

    items: tuple[int, ...]
    audits: int


QUICK: Final = Size((100,), 60)
FULL: Final = Size((30, 120, 500), 500)


@dataclass(frozen=True, slots=True)
class Result:
    """What the self-test found.

    Parameters
    ----------
    checks : tuple of Check
        Of the planted judges that went through the real engine.
    rows : tuple of Row
        Bias and coverage of every number, by planted judge and number of items.
    seed : int
        Of everything.
    """

    checks: tuple[Check, ...]
    rows: tuple[Row, ...]
    seed: int

    @property
    def biased(self) -> list[Row]:
        """Numbers whose mean is not what was planted."""
        return [r for r in self.rows if r.is_biased]

    @property
    def uncovered(self) -> list[Row]:
        """Numbers whose interval holds the truth too rarely, and tests that reject too often."""
        return [r for r in self.rows if r.fails_to_cover]

    @property
    def broken(self) -> list[Check]:
        """Checks that did not pass."""
        return [c for c in self.checks if not c.passed]

    @property
    def passed(self) -> bool:
        """Whether the instrument may be trusted."""
        return not (self.biased or self.uncovered or self.broken)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "passed": self.passed,
            "seed": self.seed,
            "checks": [asdict(c) for c in self.checks],
            "rows": [
                {
                    **asdict(r),
                    "bias": r.bias,
                    "biased": r.is_biased,
                    "fails_to_cover": r.fails_to_cover,
                }
                for r in self.rows
            ],
        }


def run(
    size: Size = QUICK,
    *,
    judges: Sequence[str] = (),
    seed: int = 0,
    engine: bool = True,
    keep: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Result:
    """Test the instrument on planted judges.

    Parameters
    ----------
    size : Size
        `QUICK` takes a minute or so, `FULL` a quarter of an hour or more on one core.
    judges : sequence of str
        Planted judges; all of them where none is named.
    seed : int
        Of everything.
    engine : bool
        Whether to run planted judges through the engine, too.
    keep : path, optional
        A file that finished cells are kept in, one JSON line a number: a run that is stopped goes
        on from there.
    tell : callable, optional
        Told what is done next.

    Returns
    -------
    Result

    Raises
    ------
    ConfigError
        If a judge is not known, or the kept cells are of another seed or size.
    """
    known = list(dict.fromkeys([*WORLDS, *JUDGES]))
    for name in judges:
        if name not in known:
            raise ConfigError(unknown_name("planted judge", name, known))
    say = tell or _nothing
    checks: list[Check] = []
    for name in JUDGES if engine else ():
        if not judges or name in judges:
            say(f"{name}: through the engine")
            with tempfile.TemporaryDirectory(prefix="judgeaudit-") as folder:
                checks += run_engine(name, Path(folder) / "run", seed=seed)
    rows: list[Row] = []
    kept = _kept(keep, size)
    for n in size.items:
        for name in WORLDS:
            if judges and name not in judges:
                continue
            found = kept.get((name, n))
            if found is None:
                say(f"{name}: {size.audits} audits of {n} items")
                found = simulate(name, n, size.audits, seed=seed)
                _keep(keep, found)
            rows += found
    return Result(tuple(checks), tuple(rows), seed)


def _nothing(_: str) -> None:
    return None


def _kept(path: Path | None, size: Size) -> dict[tuple[str, int], list[Row]]:
    cells: dict[tuple[str, int], list[Row]] = {}
    if path is None or not path.exists():
        return cells
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = Row(**json.loads(line))
        except (ValueError, TypeError):
            raise ConfigError(
                "not a row of a self-test", where=f"{path}:{number}", mend="Name another file"
            ) from None
        if row.audits != size.audits:
            raise ConfigError(
                f"kept cells are of {row.audits} audits, not of {size.audits}",
                where=f"{path}:{number}",
                mend="Name another file, or the same number of audits (--audits)",
            )
        cells.setdefault((row.judge, row.n), []).append(row)
    return cells


def _keep(path: Path | None, rows: Iterable[Row]) -> None:
    if path is not None:
        # a cell at a time, so that half a cell is never taken for a whole one
        text = "".join(json.dumps(asdict(r)) + "\n" for r in rows)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
