"""A rendering of a policy with 40 norms, certificate included, costs less than 100 ms of CPU time.

Outside the default run, for it measures; rerun it with::

    pytest -m bench tests/benchmarks/test_policy_bench.py -s
"""

from __future__ import annotations

import statistics
import time

import pytest

from judgeaudit.policy import load_conditions, load_policy, render

LIMIT_MS = 100.0
REPEATS = 7


@pytest.mark.bench
def test_a_rendering_of_forty_norms_with_its_certificate(capsys: pytest.CaptureFixture[str]):
    policy = load_policy("company_standard")
    assert 40 == len(policy.norms)
    render(policy, "base")  # the templates are read once a process
    medians: dict[str, float] = {}
    for condition in load_conditions():
        spent = []
        for _ in range(REPEATS):
            start = time.process_time()
            rendering = render(policy, condition)
            spent.append((time.process_time() - start) * 1000)
            assert rendering.certificate is not None
            assert rendering.certificate.passed
        medians[condition] = statistics.median(spent)
    with capsys.disabled():
        print("\nCPU time of one rendering of 40 norms with its certificate, median of 7")
        for condition, ms in medians.items():
            print(f"  {condition:<12}  {ms:6.1f} ms")
    assert max(medians.values()) < LIMIT_MS
