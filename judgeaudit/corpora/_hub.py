"""The one door to the `datasets` library: files of a hub, parquet and arrow tables.

Never a loading script: only named data files are fetched, as bytes, and parsed here.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgeaudit.core.errors import CorpusError

__all__ = ["fetch", "rows"]


def fetch(repo: str, filename: str, revision: str, *, sha256: str | None = None) -> Path:
    """Return one file of a dataset repository, from the user's hub cache or downloaded into it.

    Honours `HF_ENDPOINT`, `HF_HOME` and `HF_HUB_OFFLINE`. A file that is in the cache is not asked
    for again: a commit does not change, and a branch counts only with the hash of the bytes.

    Parameters
    ----------
    repo : str
        `OWNER/NAME`.
    filename : str
        Path inside the repository.
    revision : str
        A commit, or a branch if `sha256` is given.
    sha256 : str, optional
        Hash that a cached file must have to be taken; the caller checks a downloaded one.

    Raises
    ------
    CorpusError
        If it cannot be had: no network, offline mode, no such repository, commit or file.
    """
    import huggingface_hub  # comes with datasets, and looks into the cache without the network

    try:
        found = _cached(repo, filename, revision, sha256)
        if found is None and not huggingface_hub.constants.HF_HUB_OFFLINE:
            found = _download(repo, filename, revision)
    except Exception as e:  # noqa: BLE001  the client raises classes of four libraries
        raise _not_had(repo, filename, revision, _why(e)) from None
    if found is None:
        raise _not_had(repo, filename, revision, "offline mode, and it is not in the cache")
    return found


def _cached(repo: str, filename: str, revision: str, sha256: str | None) -> Path | None:
    import huggingface_hub

    path = huggingface_hub.try_to_load_from_cache(
        repo, filename, revision=revision, repo_type="dataset"
    )
    if isinstance(path, str) and sha256 in {None, _sha256(Path(path))}:
        return Path(path)
    return None


def _download(repo: str, filename: str, revision: str) -> Path:
    import datasets

    config = datasets.DownloadConfig(disable_tqdm=True, max_retries=0)
    address = f"hf://datasets/{repo}@{revision}/{filename}"
    with _quiet():
        return Path(datasets.DownloadManager(download_config=config).download(address))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's bars and logs off the terminal: what matters is in the error raised."""
    import datasets

    verbosity, bars = datasets.logging.get_verbosity(), not datasets.are_progress_bars_disabled()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.logging.set_verbosity(verbosity)
        if bars:
            datasets.enable_progress_bars()


def _not_had(repo: str, filename: str, revision: str, why: str) -> CorpusError:
    return CorpusError(
        f"cannot be fetched at revision {revision}: {why}",
        where=f"hub:{repo}/{filename}",
        mend="Check the name, the revision and the network (HF_HUB_OFFLINE), or download the "
        "file elsewhere and give its path with --data",
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _why(error: Exception) -> str:
    lines = [line.strip(" .") for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[:2])[:300] or type(error).__name__


def rows(path: Path, *, place: str) -> list[dict[str, Any]]:
    """Read a parquet or arrow file into plain rows; its cache is a temporary folder.

    Raises
    ------
    CorpusError
        If the file is not what its name says, or holds no rows.
    """
    import datasets

    try:
        with tempfile.TemporaryDirectory(prefix="judgeaudit-") as cache, _quiet():
            if path.suffix == ".arrow":
                table = datasets.Dataset.from_file(str(path), in_memory=True)
            else:
                table = datasets.Dataset.from_parquet(
                    str(path), cache_dir=cache, keep_in_memory=True
                )
            found: list[dict[str, Any]] = table.to_list()
    except Exception as e:  # noqa: BLE001  pyarrow and datasets raise classes of their own
        raise CorpusError(
            f"cannot be read as {path.suffix[1:]}: {_why(e)}",
            where=place,
            mend="Check that the file is whole, or save it as JSONL",
        ) from None
    if not found:
        raise CorpusError("the table holds no rows", where=place)
    return found
