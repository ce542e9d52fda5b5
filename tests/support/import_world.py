"""Tables of verdicts that are imported, and what came of them, for the tests of `import`."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgeaudit import audit
from judgeaudit.core.errors import CorpusError
from judgeaudit.core.table import CODES
from judgeaudit.engine.ledger import Ledger

HEAD = "id,wording,k,label,truth\n"
NAMED = {
    "item": "id",
    "condition": "wording",
    "repeat": "k",
    "verdict": "label",
    "gold": "truth",
}


@pytest.fixture(name="take")
def importing(tmp_path: Path):
    """Import a text as a file; return what was imported, with its table and facts."""

    def run(text: str | bytes, name: str = "t.csv", **choices):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return audit.import_verdicts(path, out=tmp_path / "run", **choices)

    return run


def table(made):
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        return view.table()


def facts(made):
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        return view.facts()


def cells(made) -> dict[tuple[str, str, int, int], str]:
    """Return item id, condition, wording, repeat -> code name."""
    t, names = table(made), {v: k for k, v in CODES.items()}
    return {
        (t.items[i].rpartition("/")[2], *t.columns[j], r): names[int(t.codes[i, j, r])]
        for i in range(t.n_items)
        for j in range(len(t.columns))
        for r in range(t.codes.shape[2])
        if t.codes[i, j, r] >= 0
    }


def refused(take, tmp_path: Path, text, *parts: str, error=CorpusError, name="t.csv", **choices):
    """Assert a refusal that says all parts in one line, with exit code 2, and leaves nothing."""
    with pytest.raises(error) as caught:
        take(text, name, **choices)
    said = str(caught.value)
    for part in parts:
        assert part in said, said
    assert "\n" not in said
    assert 2 == caught.value.exit_code
    assert [name] == [p.name for p in tmp_path.iterdir()]
    return said
