"""The winner of a hardening as a file that says how it was chosen."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.cure.harden_compare import EXCESS
from judgeaudit.cure.harden_records import Candidate, Hardened
from judgeaudit.judges._hardening import HardenedConfig, write_config

__all__ = ["export"]


def export(config: HardenedConfig, found: Hardened, winner: Candidate, path: Path) -> None:
    """Write the config of a winner, with what it was chosen from and what it came to.

    Parameters
    ----------
    config : HardenedConfig
        Of the winner.
    found : Hardened
        Everything that was measured.
    winner : Candidate
        Its figures.
    path : path
        File to write.
    """
    excess = winner.figure(EXCESS)
    chosen = {
        "train_clusters": found.n_train,
        "held_out_clusters": found.n_held_out,
        "seed": found.seed,
        "among": [c.name for c in found.candidates],
        "invariant_by_construction": winner.invariant,
        **(
            {}
            if excess is None
            else {
                "excess_flips_before": excess.before,
                "excess_flips_after": excess.after,
                "excess_flips_change_low": excess.low,
                "excess_flips_change_high": excess.high,
                "p_adjusted": excess.p_adjusted,
            }
        ),
    }
    kept = {k: v for k, v in chosen.items() if v is not None}
    write_config(config.model_copy(update={"chosen": kept}), path)
