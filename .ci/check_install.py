"""Check a built wheel: all data rooms inside, no stray files, no unknown `.pth` after installing.

usage: check_install.py WHEEL VENV
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOMS = ("policies", "transforms", "judge_cards")
# in the repository, and on purpose in no wheel
LEFT_OUT = ("judge_cards/published/",)
# .pth files that known packages install; anything else may run code at every start of Python
KNOWN_PTH = {"distutils-precedence.pth"}


def tracked(folder: str) -> set[str]:
    """List the files git tracks below a folder (all files, outside a checkout)."""
    done = subprocess.run(["git", "ls-files", folder], capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout:
        return set(done.stdout.splitlines())
    return {str(p) for p in Path(folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def main(wheel: str, venv: str) -> int:
    """Return 0 if the wheel is whole and the environment clean."""
    inside = set(zipfile.ZipFile(wheel).namelist())
    wrong = []
    for name in ROOMS:
        want = {f"judgeaudit/_rooms/{f}" for f in tracked(name) if not f.startswith(LEFT_OUT)}
        have = {n for n in inside if n.startswith(f"judgeaudit/_rooms/{name}/")}
        wrong += [f"missing in the wheel: {f}" for f in sorted(want - have)]
        wrong += [f"not tracked, yet in the wheel: {f}" for f in sorted(have - want)]
        if not want:
            wrong.append(f"the room {name} is empty")
    wrong += [f"missing in the wheel: {f}" for f in sorted(tracked("judgeaudit") - inside)]
    for pth in Path(venv).glob("lib/python*/site-packages/*.pth"):
        if pth.name not in KNOWN_PTH:
            wrong.append(f"unknown {pth.name} in site-packages: find out who brought it")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"wheel: {len(inside)} files, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
