"""Prices that a user states, for models whose price nobody else knows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.toml import read_toml
from judgeaudit.core.toml_lines import line_of, lines_of
from judgeaudit.engine.estimate import Price

__all__ = ["read_prices"]

_PER: Final = 1e6
_KEYS: Final = ("prompt", "completion")
_BATCH: Final = "batch"


def read_prices(path: Path) -> dict[str, Price]:
    """Read a price file: a TOML table a model, US dollars for a million tokens.

    ::

        ["openai/gpt-5.4-mini"]
        prompt = 0.25
        completion = 2.00
        batch = 0.5  # optional: what part of it a call in a batch costs

    Parameters
    ----------
    path : Path
        The file; its tables are named as the judge is on the command line.

    Returns
    -------
    dict of str to Price
        Stated prices, US dollars a token.

    Raises
    ------
    ConfigError
        If it cannot be read, or a price is missing, negative or no number; with file and line.
    """
    data, text = read_toml(path)

    def wrong(what: str, *keys: str) -> ConfigError:
        line = line_of(lines_of(text), keys)
        return ConfigError(
            what,
            where=f"{path}, line {line}" if line else str(path),
            mend="Write a table for each model, with prompt and completion in US dollars for a "
            "million tokens",
        )

    out = {}
    for model, entry in data.items():
        if not isinstance(entry, dict):
            raise wrong(f"{model!r} is no table", model)
        for name in entry:
            if name not in (*_KEYS, _BATCH):
                raise wrong(f"unknown key {name!r} for {model!r}", model, name)
        for name in _KEYS:
            if name not in entry:
                raise wrong(f"the {name} price of {model!r} is missing", model)
            value = entry[name]
            if not _is_number(value):
                raise wrong(f"the {name} price of {model!r} is {value!r}", model, name)
        batch = entry.get(_BATCH)
        if batch is not None and not _is_number(batch):
            raise wrong(f"the batch factor of {model!r} is {batch!r}", model, _BATCH)
        out[model] = Price(
            entry["prompt"] / _PER, entry["completion"] / _PER, stated=True, batch=batch
        )
    return out


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < math.inf
