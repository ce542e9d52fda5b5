"""Merge or compact ledgers again and again in a process of its own, to be killed from outside.

`ledger_child.py merge OUT SOURCE SOURCE ...` removes OUT and makes it anew, for ever;
`ledger_child.py compact LEDGER` compacts it for ever. A line is printed after each round.
"""

from __future__ import annotations

import sys
from pathlib import Path

from judgeaudit.engine.compact import compact
from judgeaudit.engine.merge import merge


def main() -> None:
    verb, first, *rest = sys.argv[1:]
    print("ready", flush=True)
    while True:
        if verb == "compact":
            compact(Path(first))
        else:
            Path(first).unlink(missing_ok=True)
            merge([Path(r) for r in rest], Path(first))
        print("done", flush=True)


if __name__ == "__main__":
    main()
