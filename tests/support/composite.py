"""Run a composite action's steps as GitHub's runner does: bash, the environment, files for outputs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

__all__ = ["Done", "run_action"]

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Done:
    """What the steps of an action left behind."""

    codes: dict[str, int]
    outputs: dict[str, str]
    summary: str
    log: str
    errors: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """The first step's code that is not 0."""
        return next((c for c in self.codes.values() if c), 0)


def run_action(
    folder: Path, workspace: Path, temp: Path, inputs: Mapping[str, str], env: Mapping[str, str]
) -> Done:
    """Run all steps of `folder/action.yml`.

    Parameters
    ----------
    folder : path
        Where the action lies, in its clone.
    workspace : path
        The caller's checkout.
    temp : path
        RUNNER_TEMP, which all steps of a job share.
    inputs, env : mapping of str to str
        `with:` and `env:` of the caller's step.
    """
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    unknown = set(inputs) - set(action["inputs"])
    assert not unknown, f"inputs that the action does not have: {unknown}"
    context: dict[str, Any] = {"github.token": "no-token"}
    for name, told in action["inputs"].items():
        context[f"inputs.{name}"] = inputs.get(name, _filled(told.get("default", ""), context))
    temp.mkdir(exist_ok=True)
    summary = temp / "summary.md"
    summary.write_text("")
    codes: dict[str, int] = {}
    log = ""
    for k, step in enumerate(action["runs"]["steps"]):
        assert step["shell"] == "bash"
        assert step.get("if") in {None, "always()"}, "only this condition is understood here"
        if any(codes.values()) and step.get("if") is None:
            continue
        out = temp / f"output-{k}"
        out.write_text("")
        script = temp / f"step-{k}.sh"
        script.write_text(step["run"], encoding="utf-8")
        mine = {n: _filled(v, context) for n, v in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=workspace, text=True, capture_output=True, check=False,
            env={
                **{n: os.environ[n] for n in ("PATH", "HOME", "LANG", "TMPDIR") if n in os.environ},
                **{n: v for n, v in os.environ.items() if n.startswith(("PIP_", "SSL_"))},
                **env, **mine,
                "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(folder),
                "GITHUB_WORKSPACE": str(workspace), "GITHUB_OUTPUT": str(out),
                "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(temp),
            },
        )  # fmt: skip
        codes[step["name"]] = done.returncode
        log += done.stdout + done.stderr
        for line in out.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            context[f"steps.{step.get('id')}.outputs.{name}"] = value
    outputs = {n: _filled(o["value"], context) for n, o in action["outputs"].items()}
    return Done(codes, outputs, summary.read_text(encoding="utf-8"), log)


def _filled(text: str, context: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda m: str(context.get(m[1], "")), str(text))
