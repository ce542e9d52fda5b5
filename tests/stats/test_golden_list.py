"""Every golden id of sections 0 to 11: one that no test covers fails, by name."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import agreement_goldens
import golden_calibration
import numpy as np
import pytest
from score_tables import read_judge

from judgeaudit.selftest.truth import expectations
from judgeaudit.selftest.worlds import CALLS, Items, World

ROOT = Path(__file__).resolve().parents[1]

COVERED = {
    # golden ids -> the test that reads every one of them, and fails on one that it does not know
    "planner.json:rows.*": "stats/test_planning.py::test_planner",
    "planner.json:[adpt]*": "stats/test_planning.py::test_planner",
    **{
        f"seed_statistics.json:{family}.*": (
            "stats/test_golden_entries.py::test_every_entry_of_a_prefix"
        )
        for family in (
            *("rule_of_three", "cp_upper_one_sided", "asr", "multiplicity"),
            *("pis", "rogan_gladen", "sample_size"),
        )
    },
    "seed_statistics.json:tails.*": "stats/test_golden_calculators.py::test_every_entry_by_id",
    "judge_*:expected_estimates.*": "scoring/test_goldens.py::test_every_expected_number",
    "judge_*:true_parameters_given_items.*": (
        "stats/test_golden_list.py::test_planted_truth_of_every_judge"
    ),
    "sequential_*:*": "stats/test_planning.py::test_sequential_goldens",
    "ppi_planted*:*": "stats/test_planning.py::test_corrected_rates_goldens",
    **golden_calibration.COVERED,
    **agreement_goldens.COVERED,
}

COVERED |= {
    # what the judge knows of itself
    "seed_statistics.json:semantic_entropy.*": (
        "stats/test_entropy.py::test_every_golden_of_semantic_entropy"
    ),
}

ARGUED = {
    # golden ids -> why no test is owed
    "judge_*:true_parameters_given_items.*.mean_abs_shift": (
        "not a number of any card: the RMS shift stands in its place"
    ),
    "judge_*:[nc]*": "describes the judge: name, note, number of items, how it was drawn",
    "judge_*:tolerance.*": "how near is near enough; written into the tests",
    "planner.json:formula": "words",
    "planner.json:design": "words",
    **golden_calibration.ARGUED,
}


def leaves(tree: Any, path: str = "") -> Iterator[str]:
    """Name the numbers of a JSON tree by their path; a list of records counts by its keys."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list) and tree and isinstance(tree[0], dict):
        for key in {k for record in tree for k in record}:
            yield f"{path}.{key}"
    else:
        yield path


def ids(shared: Path) -> list[str]:
    """Name every golden there is, file by file."""
    folder, out = shared / "goldens", []
    for path in sorted(folder.rglob("*.json")):
        tree = json.loads(path.read_text("utf-8"))
        if path.name == "seed_statistics.json":
            out += [f"{path.name}:{entry['id']}" for entry in tree["entries"]]
        else:
            name = path.name.removesuffix(".expected.json") if "planted" in path.name else path.name
            out += [f"{name}:{leaf}" for leaf in leaves(tree)]
    return out


def uncovered(names: list[str]) -> list[str]:
    patterns = (*ARGUED, *COVERED)
    return [n for n in names if not any(fnmatchcase(n, p) for p in patterns)]


def test_no_golden_is_left_out(shared: Path):
    names = ids(shared)
    assert len(names) > 1500
    assert [] == uncovered(names)


def test_the_list_finds_a_golden_that_nothing_covers(shared: Path):
    new = ["seed_statistics.json:new_family.x", "judge_a_quiet.expected.json:more.x", "new.json:x"]
    assert new == uncovered([*ids(shared), *new])


def test_no_line_of_the_tables_is_idle(shared: Path):
    names = ids(shared)
    idle = [p for p in (*COVERED, *ARGUED) if not any(fnmatchcase(n, p) for n in names)]
    assert [] == idle


def test_sections_0_to_11_are_argued_away_nowhere(shared: Path):
    """An argument holds for descriptions and for section 12 only."""
    argued = [n for n in ids(shared) if any(fnmatchcase(n, p) for p in ARGUED)]
    families = {n.split(":")[1].split(".")[0] for n in argued if n.startswith("seed_")}
    assert not families & {"rule_of_three", "cp_upper_one_sided", "asr", "pis", "sample_size"}
    assert not families & {"tails", "agreement"}
    assert not [n for n in argued if "expected_estimates" in n or ":rows" in n]


@pytest.mark.parametrize("node", sorted(set(COVERED.values())))
def test_every_test_that_is_named_is_there(node):
    file, name = node.split("::")
    assert f"def {name}(" in (ROOT / file).read_text("utf-8")


def truths(shared: Path, name: str) -> tuple[Items, dict[str, Any]]:
    """Read what was planted: chances by item, and the parameters that follow from them."""
    folder = shared / "goldens" / "simulated"
    with (folder / f"{name}.truth.csv").open(encoding="utf-8") as file:
        rows = {r["item_id"]: r for r in csv.DictReader(file)}
    table = read_judge(folder, name).table
    # the goldens have no control; the base chances stand in, and nothing of it is read
    chances = {
        c: np.array([float(rows[i][f"p_{c if c != 'no_policy' else 'base'}"]) for i in table.items])
        for c in CALLS
    }
    items = Items(chances, table.ambiguous, np.zeros(table.n_items, np.int8), table.clusters)
    expected = json.loads((folder / f"{name}.expected.json").read_text("utf-8"))
    return items, expected["true_parameters_given_items"]


OURS = {
    "flip_raw": "flip_rate",
    "jitter_condition": "jitter",
    "delta_paper": "delta_paper",
    "delta_debiased": "delta_debiased",
    "signed_shift": "signed_shift",
}
WHOLE = {
    "jitter_base": ("jitter", "base"),
    "delta_cert_paper": ("delta_paper", "certified"),
    "delta_cert_debiased": ("delta_debiased", "certified"),
    "R_dir": ("direction_ratio", None),
    "forward_rate": ("forward_rate", None),
    "reverse_rate": ("reverse_rate", None),
    "U_share": ("undue_share", None),
    "PIS_raw": ("pis_raw", None),
    "PIS": ("pis", None),
}


@pytest.mark.parametrize(
    "name",
    [
        *("judge_a_quiet", "judge_b_noisy_null", "judge_c_brittle_t4", "judge_d_sharpening"),
        *("judge_e_parse_fail", "judge_f_zero_flips", "judge_g_clustered", "judge_h_paper_design"),
    ],
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_planted_truth_of_every_judge(shared: Path, name):
    """The self-test's truths are the goldens' true parameters, to rounding of the planted chances."""
    items, expected = truths(shared, name)
    found = expectations(World(name), items)
    for key, value in expected.items():
        if key in WHOLE:
            pairs = [((*WHOLE[key], "exclude"), value)]
        else:
            value.pop("mean_abs_shift")
            pairs = [((OURS[part], key, "exclude"), v) for part, v in value.items()]
        for ours, wanted in pairs:
            near = None if wanted is None else pytest.approx(wanted, abs=1e-9)
            assert near == found.get(ours), (key, ours)
