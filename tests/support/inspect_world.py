"""Logs of Inspect AI, made by hand: for what no run of a current release would write."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

__all__ = ["FIXTURE", "head", "raw_zip", "sample", "write_eval", "write_json"]

FIXTURE = Path(__file__).parents[1] / "corpora" / "inspect" / "shop.eval"
"""Written by the release that it names; see `write_log.py` beside it."""


def head(task: str = "shop", **more: Any) -> dict[str, Any]:
    """Return a log without samples."""
    return {"version": 2, "status": "success", "eval": {"task": task, "model": "acme/one", **more}}


def sample(id_: Any = 1, epoch: int = 1, **more: Any) -> dict[str, Any]:
    """Return a sample of two messages; `...` takes a field away."""
    made = {
        "id": id_,
        "epoch": epoch,
        "input": "Hello!",
        "target": "",
        "messages": [
            {"role": "user", "content": "Hello!"},
            {"role": "assistant", "content": "Good day."},
        ],
        "scores": {"safe": {"value": "C", "explanation": "It is polite."}},
        **more,
    }
    return {k: v for k, v in made.items() if v is not ...}


def write_json(path: Path, samples: list[Any], **more: Any) -> Path:
    """Write a `.json` log."""
    path.write_text(json.dumps({**head(**more), "samples": samples}), encoding="utf-8")
    return path


def write_eval(path: Path, samples: list[Any], **more: Any) -> Path:
    """Write an `.eval` log as releases up to early 2026 did, deflated."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("header.json", json.dumps(head(**more)))
        for s in samples:
            out.writestr(f"samples/{s['id']}_epoch_{s['epoch']}.json", json.dumps(s))
    return path


def raw_zip(members: list[tuple[str, int, bytes, bytes]]) -> bytes:
    """Write a zip of (name, method, packed, unpacked): methods and lies that `zipfile` refuses."""
    body, directory = b"", b""
    for name, method, packed, unpacked in members:
        fields = (20, 0, method, 0, 33, zlib.crc32(unpacked), len(packed), len(unpacked))
        start = struct.pack("<HHHHHIII", *fields) + struct.pack("<HH", len(name.encode()), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + start
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + start + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end
