"""Seeds that a generator takes."""

from __future__ import annotations

from judgeaudit.core.errors import ConfigError

__all__ = ["check_seed"]


def check_seed(seed: int) -> None:
    """Refuse a seed that no generator takes.

    Raises
    ------
    ConfigError
        If it is negative.
    """
    if seed < 0:
        raise ConfigError(f"the seed {seed} is negative", mend="Give --seed 0, or any larger one")
