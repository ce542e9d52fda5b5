"""Log files of Inspect AI, opened without Inspect: `.eval` (a zip) and `.json`, sample by sample.

Nothing is extracted: members are read in memory, within stated limits, and their names are labels
inside of the file alone. Zstandard, which current releases write, is decompressed by pyarrow.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora._inspect_messages import picked
from judgeaudit.corpora._read import Source, check_pin, decoded, open_source

__all__ = ["MEMBER_LIMIT", "TOTAL_LIMIT", "LogFile", "listed", "open_log", "open_logs"]

MEMBER_LIMIT: Final = 512 << 20
"""Bytes that one part of a log may unpack to: half a gibibyte."""

TOTAL_LIMIT: Final = 16 << 30
"""Bytes that all parts of a log that are read may unpack to together: 16 gibibytes."""

_MEMBERS: Final = 1_000_000
_STEP: Final = 1 << 20
_ZSTD: Final = 93
_ENCRYPTED: Final = 1
_WHOLE: Final = re.compile(r"samples/.+_epoch_\d+\.json")
_SHELL: Final = re.compile(r"(samples/.+_epoch_\d+)/sample\.json")
_MEND_WHOLE: Final = (
    "Copy it again, or, if the run was cut off while it was written, recover it with Inspect"
)
_LOG_NAMES: Final = (".eval", ".json")


@dataclass(slots=True)
class LogFile:
    """One log, its head read and its samples still to come.

    Parameters
    ----------
    source : Source
        The file.
    head : dict
        The log without its samples: `version`, `status`, `eval`, `plan`, `results`, ...
    complete : bool
        Whether the log says how its run ended; one whose run was cut off does not.
    """

    source: Source
    head: dict[str, Any]
    complete: bool
    _zip: _Zip | None
    _samples: list[Any]

    @property
    def place(self) -> str:
        """The file, as a message shows it."""
        return self.source.place

    def samples(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return each sample with its place, in the order of the log; read when it is asked for.

        Raises
        ------
        CorpusError
            If one is damaged, is no JSON object, or unpacks to more than a limit.
        """
        if self._zip is not None:
            yield from self._zip.samples()
            return
        for n, sample in enumerate(self._samples, 1):
            where = f"{self.place}, sample {n}"
            yield where, _object(sample, where)


def open_logs(data: str, revision: str | None = None) -> list[LogFile]:
    """Open one log, or all logs of a folder, in the order of their names.

    Raises
    ------
    CorpusError
        If there is none, or one cannot be used.
    """
    folder = Path(data)
    if data.startswith("hub:") or not folder.is_dir():
        return [open_log(open_source(data, revision))]
    found = sorted(
        (p for p in folder.iterdir() if p.suffix in _LOG_NAMES and p.is_file()),
        key=lambda p: p.name,
    )
    if not found:
        raise CorpusError(
            "the folder holds no logs", where=data, mend="Logs are *.eval and *.json files"
        )
    logs = [open_log(open_source(str(p))) for p in found]
    if revision is not None:
        check_pin(revision, listed(logs).sha256, place=data)
    return logs


def listed(logs: list[LogFile]) -> Source:
    """Return the source of a single log, or of several the list of their names and hashes."""
    if len(logs) == 1:
        return logs[0].source
    folder = Path(logs[0].place).parent
    lines = "".join(f"{log.source.name}\0{log.source.sha256}\n" for log in logs)
    return Source(
        place=str(folder), name=folder.name, raw=lines.encode("utf-8", "surrogatepass"), path=folder
    )


def open_log(source: Source) -> LogFile:
    """Open a log that is in memory.

    Raises
    ------
    CorpusError
        If it is neither a zip nor JSON, is cut off, or is no log of Inspect.
    """
    if source.raw[:4] == b"PK\x03\x04":
        inside = _Zip(source)
        head, complete = inside.head()
        return LogFile(source, _log(head, source.place), complete, inside, [])
    if source.raw[:2] == b"PK" or source.name.endswith(".eval"):
        what = "the file is empty" if not source.raw else "is no zip, and so no .eval log"
        raise CorpusError(what, where=source.place, mend=_MEND_WHOLE)
    text = decoded(source)
    if not text.strip():
        raise CorpusError("the file is empty", where=source.place)
    head = _log(_object(_parsed(text, source.place), source.place), source.place)
    samples = head.pop("samples", None)
    if samples is not None and not isinstance(samples, list):
        raise CorpusError("'samples' is no list", where=source.place)
    complete = head.get("status") not in {None, "started"}
    return LogFile(source, head, complete, None, samples or [])


def _log(head: dict[str, Any], place: str) -> dict[str, Any]:
    if not isinstance(head.get("eval"), dict):
        raise CorpusError(
            "is no log of Inspect: it has no 'eval'",
            where=place,
            mend="Give a file that `inspect eval` wrote, .eval or .json",
        )
    return head


def _parsed(raw: str | bytes, where: str) -> Any:
    """Read JSON, with NaN and infinities: Inspect writes them for scores that are none."""
    try:
        return json.loads(raw)
    except json.JSONDecodeError as e:
        raise CorpusError(
            f"is not JSON: {e.msg} at line {e.lineno}, column {e.colno}", where=where
        ) from None
    except UnicodeDecodeError as e:
        raise CorpusError(f"is not UTF-8 (byte {e.start})", where=where) from None
    except RecursionError:
        raise CorpusError("is nested too deeply", where=where) from None
    except ValueError as e:  # integers of thousands of digits
        raise CorpusError(str(e).split(";")[0], where=where) from None


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CorpusError(f"is a {type(value).__name__}, not an object", where=where)
    return value


class _Zip:
    """The members of an `.eval`, by name; of two of one name the later counts, as in Inspect."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = TOTAL_LIMIT
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source.raw))
        except Exception as e:  # noqa: BLE001 - a hostile directory makes it raise what it likes
            raise CorpusError(
                f"is a zip that is cut off or damaged ({e})", where=source.place, mend=_MEND_WHOLE
            ) from None
        self._of = {i.filename: i for i in self._zip.infolist()}
        if len(self._of) > _MEMBERS:
            raise CorpusError(
                f"the zip has {len(self._of)} members; {_MEMBERS} are the most", where=source.place
            )

    def head(self) -> tuple[dict[str, Any], bool]:
        """Return the log without samples; of a run that was cut off, what its journal began with.

        Raises
        ------
        CorpusError
            If neither is there.
        """
        for name in ("header.json", "_journal/start.json"):
            if name in self._of:
                head = _object(self._json(name), self._where(name))
                return head, name == "header.json" and head.get("status") != "started"
        raise CorpusError(
            "is a zip, but no log of Inspect: it holds no header.json",
            where=self._source.place,
            mend="Give a file that `inspect eval` wrote",
        )

    def samples(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return each sample with its place."""
        for name in self._of:
            where = self._where(name)
            if _WHOLE.fullmatch(name):
                yield where, _object(self._json(name), where)
            elif shell := _SHELL.fullmatch(name):
                yield where, self._chunked(shell[1], name)

    def _chunked(self, prefix: str, name: str) -> dict[str, Any]:
        """Put a sample together that Inspect wrote in chunks."""
        sample = dict(_object(self._json(name), self._where(name)))
        if f"{prefix}/metadata.json" in self._of:
            sample["metadata"] = self._json(f"{prefix}/metadata.json")
        pool = self._sequence(prefix, "messages")
        sample["events_data"] = {"messages": pool}
        sample["attachments"] = {
            str(n): a for n, a in enumerate(self._sequence(prefix, "attachments"))
        }
        try:
            sample["messages"] = picked(sample.pop("message_refs", None), pool)
        except ValueError as e:
            raise CorpusError(str(e), where=self._where(name)) from None
        sample["events"] = self._sequence(prefix, "events")
        return sample

    def _sequence(self, prefix: str, kind: str) -> list[Any]:
        start = f"{prefix}/{kind}/"
        chunks = {
            int(stem): name
            for name in self._of
            if name.startswith(start)
            and (stem := name.removeprefix(start).removesuffix(".json")).isdecimal()
        }
        whole: list[Any] = []
        for first in sorted(chunks):
            part = self._json(chunks[first])
            if not isinstance(part, list) or first != len(whole):
                raise CorpusError(
                    f"a chunk is missing or no list: {len(whole)} are there before it",
                    where=self._where(chunks[first]),
                    mend=_MEND_WHOLE,
                )
            whole += part
        return whole

    def _where(self, name: str) -> str:
        shown = name if name.isprintable() and len(name) <= 200 else f"{name[:200]!r}"
        return f"{self._source.place}, {shown}"

    def _json(self, name: str) -> Any:
        where = self._where(name)
        return _parsed(self._bytes(self._of[name], where), where)

    def _bytes(self, member: zipfile.ZipInfo, where: str) -> bytes:
        """Unpack a member, counting what really comes out: what the zip declares may be a lie."""
        if member.flag_bits & _ENCRYPTED:
            raise CorpusError("is encrypted", where=where)
        if member.file_size > MEMBER_LIMIT:
            raise _too_large(where)
        try:
            return self._unpacked(member, where)
        except CorpusError:
            raise
        except NotImplementedError:
            raise CorpusError(
                f"is compressed by method {member.compress_type}, which nobody reads here",
                where=where,
                mend="Write the log again with Inspect (`inspect log convert`)",
            ) from None
        except Exception as e:  # noqa: BLE001 - as above, and what a broken stream makes of it
            raise CorpusError(f"is damaged ({e})", where=where, mend=_MEND_WHOLE) from None

    def _unpacked(self, member: zipfile.ZipInfo, where: str) -> bytes:
        out = io.BytesIO()
        for part in self._parts(member):
            if out.tell() + len(part) > MEMBER_LIMIT:
                raise _too_large(where)
            self._left -= len(part)
            if self._left < 0:
                raise CorpusError(
                    f"the log unpacks to more than {TOTAL_LIMIT >> 30} GiB", where=where
                )
            out.write(part)
        return out.getvalue()

    def _parts(self, member: zipfile.ZipInfo) -> Iterable[bytes]:
        if member.compress_type == _ZSTD:
            yield from self._unzstd(member)
            return
        with self._zip.open(member) as stream:
            while part := stream.read(_STEP):
                yield part

    def _unzstd(self, member: zipfile.ZipInfo) -> Iterable[bytes]:
        """Unpack Zstandard, in one frame or several, which `zipfile` learns with Python 3.14."""
        import pyarrow as pa

        raw = self._source.raw
        at = member.header_offset
        if raw[at : at + 4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no header where one is to be")
        lengths = raw[at + 26 : at + 30]
        at += 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        packed = memoryview(raw)[at : at + member.compress_size]
        crc = 0
        if len(packed):
            stream = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(packed)), "zstd")
            while part := stream.read(_STEP):
                crc = zlib.crc32(part, crc)
                yield part
        if crc != member.CRC:
            raise zipfile.BadZipFile("its checksum is another")


def _too_large(where: str) -> CorpusError:
    return CorpusError(
        f"unpacks to more than {MEMBER_LIMIT >> 20} MiB, the most that one part may be",
        where=where,
        mend="Leave this sample out; Inspect writes large ones in chunks",
    )
