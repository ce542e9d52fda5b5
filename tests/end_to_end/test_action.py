"""The GitHub Action: its form, and its steps from a clean clone, night after night."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from composite import run_action
from receiver import Receiver

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "judgeaudit"
STEPS = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
GATE = '[[bar]]\nmetric = "accuracy"\nat_least = 0.5\n'
QUICK = "--preset\nquick\n"


def schema(name: str) -> dict:
    """Return a schema of SchemaStore or GitLab, as check-jsonschema ships it."""
    found = importlib.util.find_spec("check_jsonschema")
    if found is None or found.origin is None:
        pytest.skip("the schemas come with judgeaudit[dev]")
    file = Path(found.origin).parent / "builtin_schemas" / "vendor" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def valid(data: object, name: str) -> None:
    wanted = schema(name)
    jsonschema.validators.validator_for(wanted)(wanted).validate(data)


def test_the_action_is_valid_by_its_schema():
    action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    valid(action, "github-actions")
    del action["runs"]["using"]
    with pytest.raises(jsonschema.ValidationError):
        valid(action, "github-actions")


@pytest.mark.parametrize(
    "file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda f: f.name
)
def test_our_workflows_are_valid_by_their_schema(file):
    valid(read(file.read_text(encoding="utf-8")), "github-workflows")


def read(text: str) -> dict:
    """Read YAML as GitHub does: `on` is a word, not YAML 1.1's true."""
    data = yaml.safe_load(text)
    if True in data:
        data["on"] = data.pop(True)
    return data


def told() -> list[tuple[str, dict]]:
    """Return the pipelines that the how-to shows: their kind and their data."""
    text = (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, flags=re.DOTALL)
    return [(name, read(data)) for name, data in blocks]


def test_the_documented_pipelines_are_valid():
    names = [name for name, _ in told()]
    assert any(n.startswith(".github/") for n in names)
    assert ".gitlab-ci.yml" in names
    for name, data in told():
        valid(data, "gitlab-ci" if name == ".gitlab-ci.yml" else "github-workflows")


def test_the_documented_workflows_name_inputs_and_outputs_that_exist():
    action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    used = 0
    for name, data in told():
        if not name.startswith(".github/"):
            continue
        for job in data["jobs"].values():
            for step in job["steps"]:
                if "/.github/actions/judgeaudit" in step.get("uses", ""):
                    assert set(step["with"]) <= set(action["inputs"])
                    used += 1
        outputs = set(re.findall(r"steps\.judge\.outputs\.([\w-]+)", json.dumps(data)))
        assert outputs <= set(action["outputs"])
    assert used


def test_no_expression_stands_in_a_command():
    """What somebody typed must reach a shell as a variable, never as its text."""
    assert 3 == len(STEPS)
    for step in STEPS:
        assert "${{" not in step["run"]
        assert "uses" not in step


def test_other_actions_are_pinned_to_a_commit():
    """In what we run and what we tell others to copy: a tag can be moved by whoever holds it."""
    files = [ROOT / "docs" / "howto" / "ci.md", *(ROOT / ".github" / "workflows").glob("*.yml")]
    text = "".join(f.read_text(encoding="utf-8") for f in files)
    used = [name for name in re.findall(r"uses: (\S+)", text) if not name.startswith("./")]
    assert used
    for name in used:
        assert re.search(r"@([0-9a-f]{40}|<commit>)$", name), name


def test_every_variable_of_the_script_is_given_by_the_action():
    script = (ACTION / "nightly.sh").read_text(encoding="utf-8")
    read = set(re.findall(r"\$\{(NIGHT_\w+)", script)) - {"NIGHT_VENV"}
    assert read == {n for s in STEPS for n in s["env"] if n.startswith("NIGHT_")}


def script(verb: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the script by itself, with the judgeaudit of this checkout on the path."""
    here = folder / "bin"
    if not here.exists():
        here.mkdir(parents=True)
        (here / "judgeaudit").write_text(f'#!/bin/sh\nexec {sys.executable} -m judgeaudit "$@"\n')
        (here / "judgeaudit").chmod(0o755)
    return subprocess.run(
        ["bash", str(ACTION / "nightly.sh"), verb], cwd=folder, text=True, capture_output=True,
        check=False,
        env={
            "PATH": f"{here}:{os.environ['PATH']}", "HOME": str(folder), "PYTHONPATH": str(ROOT),
            "NIGHT_VENV": str(folder / "no-venv"), **env,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"NIGHT_OUT": "x\nverdict=pass"}, "NIGHT_OUT holds a line end"),
        ({"NIGHT_JUDGE": "scripted:$(touch hacked);`touch hacked`"}, "$(touch hacked)"),
        ({"NIGHT_JUDGE": "scripted:nobody", "NIGHT_ARGUMENTS": "--seed\n$(touch hacked)"}, "seed"),
    ],
)
def test_what_is_typed_is_never_a_command(tmp_path, env, words):
    done = script("night", tmp_path, **env)
    assert 2 == done.returncode
    assert words in done.stderr
    assert not (tmp_path / "hacked").exists()


def test_the_script_wants_a_verb(tmp_path):
    assert 2 == script("nightt", tmp_path).returncode
    done = script("install", tmp_path, NIGHT_PYTHON=sys.executable, NIGHT_EXTRAS="a;b")
    assert 2 == done.returncode
    assert "names with commas" in done.stderr


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clean clone of what is committed, and the runner's folder that all its nights share."""
    home = tmp_path_factory.mktemp("action")
    subprocess.run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(home / "clone")], check=True
    )
    # what is committed and what is being changed are both tried
    for path in (".github", "judgeaudit", "pyproject.toml"):
        source, target = ROOT / path, home / "clone" / path
        if source.is_dir():
            shutil.rmtree(target)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    work = home / "work"
    work.mkdir()
    (work / "gate.toml").write_text(GATE, encoding="utf-8")
    return home / "clone" / ".github" / "actions" / "judgeaudit", work, home / "temp"


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_nights_from_a_clean_clone(clone):
    """One job's worth of nights: the first installs; each is one run of all steps."""
    folder, work, temp = clone

    def night(env: dict[str, str] | None = None, **inputs: str):
        given = {"python": sys.executable, "arguments": QUICK} | {
            k.replace("_", "-"): v for k, v in inputs.items()
        }
        return run_action(folder, work, temp, given, env or {})

    # the first night: a gate, and a history that has nothing to say yet
    done = night(judge="scripted:quiet", gate="gate.toml", store="history", out="runs/1")
    assert 0 == done.code, done.log
    assert ["pass", "0"] == [done.outputs[k] for k in ("verdict", "exit-code")]
    for name in ("card-path", "junit-path", "sarif-path", "summary-path"):
        assert (work / done.outputs[name]).is_file(), name
    assert done.summary.startswith("## judgeaudit: pass\n")
    assert "1 of 1 bars pass" in done.summary
    assert "::error" not in done.log

    # the same night again: nothing is asked, and it is in the history already
    done = night(judge="scripted:quiet", gate="gate.toml", store="history", out="runs/1")
    assert ("pass", 0) == (done.outputs["verdict"], done.code)
    assert "is night 1 already" in done.log

    # a regression: another judge behind the same corpus
    with Receiver() as server:
        done = night(
            judge="scripted:always_safe", baseline="runs/1", store="history", out="runs/2",
            webhook=f"{server.url}/s3cret", webhook_token="t0ken",
        )  # fmt: skip
        ((headers, body),) = server.seen
    assert ["fail", "1"] == [done.outputs[k] for k in ("verdict", "exit-code")]
    assert {"Audit the judge": 1} == {k: c for k, c in done.codes.items() if c}
    assert "::error title=judgeaudit verdicts::" in done.log
    assert "s3cret" not in done.log + done.summary
    assert "t0ken" not in done.log + done.summary
    assert "<failure" in (work / done.outputs["junit-path"]).read_text(encoding="utf-8")
    assert "Bearer t0ken" == headers["Authorization"]
    assert "fail" == json.loads(body)["outcome"]
    assert "## Gate" in done.summary
    assert "## History" in done.summary

    # nothing can be decided: 16 items are too few for this bar
    (work / "open.toml").write_text(GATE.replace("0.5", "0.9"), encoding="utf-8")
    done = night(judge="scripted:quiet", gate="open.toml", out="runs/3")
    assert ["inconclusive", "4"] == [done.outputs[k] for k in ("verdict", "exit-code")]
    assert 4 == done.code
    done = night(judge="scripted:quiet", gate="open.toml", out="runs/3", allow_inconclusive="true")
    assert ("inconclusive", 0) == (done.outputs["verdict"], done.code)

    # refused and broken nights leave no report of another night
    done = night(judge="scripted:nobody", gate="gate.toml", out="runs/4")
    assert ["refused", "2", ""] == [done.outputs[k] for k in ("verdict", "exit-code", "junit-path")]
    assert 2 == done.code


@pytest.mark.slow
def test_a_comment_is_written_on_the_pull_request_and_decides_nothing(tmp_path):
    """`gh` is GitHub's own, and is not here: a recorder in its place shows what it is told."""
    gh = tmp_path / "bin"
    gh.mkdir()
    (gh / "judgeaudit").write_text(f'#!/bin/sh\nexec {sys.executable} -m judgeaudit "$@"\n')
    (gh / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" >gh.txt\nexit 1\n')
    for file in gh.iterdir():
        file.chmod(0o755)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "title": "$(touch hacked)"}}))
    (tmp_path / "judgeaudit-reports").mkdir()
    (tmp_path / "judgeaudit-reports" / "summary.md").write_text("## judgeaudit: pass\n")
    env = {"GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "a/b", "NIGHT_COMMENT": "true"}
    done = script("comment", tmp_path, **env)
    assert 0 == done.returncode
    assert "::warning title=judgeaudit::The comment could not be written" in done.stderr
    asked = (tmp_path / "gh.txt").read_text().splitlines()
    assert "repos/a/b/issues/7/comments" in asked
    assert "body=@judgeaudit-reports/summary.md" in asked
    (tmp_path / "gh.txt").unlink()
    event.write_text("{}")
    assert 0 == script("comment", tmp_path, **env).returncode
    assert 0 == script("comment", tmp_path, **{**env, "NIGHT_COMMENT": "false"}).returncode
    assert not (tmp_path / "gh.txt").exists()
