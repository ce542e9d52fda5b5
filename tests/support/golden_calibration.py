"""Goldens of detection and calibration: which test reads each of them."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = ("exp1", "exp1B", "brier", "murphy", "ece", "temperature")
"""Families of `seed_statistics.json` that concern calibration."""

TABLE: Final = ("n", "true_temperature", "T_star", "nll_*", "ece*", "ace*", "murphy10.*")
"""Figures of the planted table of calibration that concern calibration and ranking."""

_FILE: Final = "stats/test_calibration_goldens.py"

COVERED: Final = {
    **{f"seed_statistics.json:{f}.*": f"{_FILE}::test_every_entry_by_id" for f in FAMILIES},
    **{f"calibration_planted*:{name}": f"{_FILE}::test_the_planted_table" for name in TABLE},
    **{
        f"calibration_planted*:{name}": f"{_FILE}::test_the_planted_table"
        for name in ("auroc", "brier", "aurc*", "e_aurc", "error_rate")
    },
    "experiment1.json:bins.*": f"{_FILE}::test_the_bins_of_experiment_1",
    "experiment1.json:items_*": f"{_FILE}::test_the_bins_of_experiment_1",
    "temperature_logits.json:l*": f"{_FILE}::test_every_entry_by_id",
}

ARGUED: Final = {
    "experiment1.json:edge_rule": "words",
    "experiment1.json:note": "words",
    "temperature_logits.json:note": "words",
    "calibration_planted*:edge_rule": "words",
}
