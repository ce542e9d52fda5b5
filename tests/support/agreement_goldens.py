"""Which goldens of agreement and abstention are covered, and by which test."""

from __future__ import annotations

_HERE = "stats/test_agreement_goldens.py"

COVERED = {
    **{
        f"seed_statistics.json:{family}.*": f"{_HERE}::test_every_entry_of_agreement_and_abstention"
        for family in ("agreement", "abstention", "aurc")
    },
    **{
        f"seed_statistics.json:exp2.{part}*": (
            f"{_HERE}::test_every_entry_of_agreement_and_abstention"
        )
        for part in (
            *("risk", "aurc", "e_aurc", "operating_point"),
            *("auroc", "brier", "ece"),
        )
    },
    "annotators_planted*:*": f"{_HERE}::test_planted_annotators",
    "experiment2.json:*": f"{_HERE}::test_the_second_experiment",
}
