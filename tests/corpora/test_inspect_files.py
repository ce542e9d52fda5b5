"""The files that hold Inspect's logs: cut off, damaged, hostile, and of every release."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile

import pyarrow as pa
import pytest
from inspect_world import FIXTURE, head, raw_zip, sample, write_eval

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora import _eval_file, load

HEAD = json.dumps(head()).encode()
ONE = json.dumps(sample()).encode()


def zstd(raw: bytes) -> bytes:
    return pa.Codec("zstd").compress(raw, asbytes=True)


def refused(path, raw: bytes) -> str:
    path.write_bytes(raw)
    with pytest.raises(CorpusError) as caught:
        load("inspect", data=path)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.fixture
def log(tmp_path):
    return tmp_path / "x.eval"


def test_zstandard_in_one_frame_or_several_is_read(log):
    packed = zstd(ONE[:20]) + zstd(ONE[20:])
    log.write_bytes(raw_zip([("header.json", 93, zstd(HEAD), HEAD), ("samples/1_epoch_1.json", 93, packed, ONE)]))  # fmt: skip
    assert 1 == load("inspect", data=log).facts.n_items


def test_the_fixture_is_zstandard():
    """So that the test of the current release is one of its compression, too."""
    with zipfile.ZipFile(FIXTURE) as z:
        assert {93} == {i.compress_type for i in z.infolist()}


def test_a_damaged_frame_is_named(log):
    cut = zstd(ONE)[:-3]
    said = refused(log, raw_zip([("header.json", 0, HEAD, HEAD), ("samples/1_epoch_1.json", 93, cut, ONE)]))  # fmt: skip
    assert "x.eval, samples/1_epoch_1.json: is damaged" in said
    other = refused(log, raw_zip([("header.json", 0, HEAD, HEAD), ("samples/1_epoch_1.json", 93, zstd(ONE), b"?")]))  # fmt: skip
    assert "its checksum is another" in other


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_a_file_that_is_cut_off_is_refused(log, share):
    whole = FIXTURE.read_bytes()
    said = refused(log, whole[: int(len(whole) * share)])
    assert "the file is empty" in said or "is a zip that is cut off or damaged" in said


def test_each_byte_of_a_log_may_be_wrong(log):
    """Whatever is flipped: the log is read, or one message says what is wrong."""
    whole = bytearray(write_eval(log, [sample()]).read_bytes())
    for k in range(0, len(whole), 7):
        broken = whole.copy()
        broken[k] ^= 0x41
        log.write_bytes(bytes(broken))
        with contextlib.suppress(CorpusError):
            load("inspect", data=log)


def test_a_bomb_is_refused_by_what_it_unpacks_to(log, monkeypatch):
    monkeypatch.setattr(_eval_file, "MEMBER_LIMIT", 1 << 20)
    zeros = b"0" * (3 << 20)
    for packed, told in ((zstd(zeros), zeros), (zstd(zeros), b"0")):
        said = refused(log, raw_zip([("header.json", 0, HEAD, HEAD), ("samples/1_epoch_1.json", 93, packed, told)]))  # fmt: skip
        assert "unpacks to more than 1 MiB" in said
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("header.json", HEAD)
        z.writestr("samples/1_epoch_1.json", zeros)
    assert "unpacks to more than 1 MiB" in refused(log, made.getvalue())


def test_many_parts_are_bounded_together(log, monkeypatch):
    monkeypatch.setattr(_eval_file, "TOTAL_LIMIT", 2 << 20)
    big = json.dumps(sample(store={"x": "y" * (1 << 20)})).encode()
    names = [f"samples/{k}_epoch_1.json" for k in range(3)]
    made = raw_zip([("header.json", 0, HEAD, HEAD), *((n, 93, zstd(big), big) for n in names)])
    log.write_bytes(made)
    with pytest.raises(CorpusError, match="the log unpacks to more than"):
        load("inspect", data=log)


def test_the_limits_are_the_documented_ones():
    assert (512 << 20, 16 << 30) == (_eval_file.MEMBER_LIMIT, _eval_file.TOTAL_LIMIT)


def test_names_that_climb_are_labels_alone(log, tmp_path):
    climbing = [
        "samples/../../../x_epoch_1.json",
        "/etc/passwd",
        "../y.json",
        "samples/\x1b[2J_epoch_1.json",
    ]
    a, b = (json.dumps(sample(n)).encode() for n in (1, 2))
    log.write_bytes(raw_zip([("header.json", 0, HEAD, HEAD), (climbing[0], 0, a, a), (climbing[1], 0, b"{", b"{"), (climbing[2], 0, b"{", b"{"), (climbing[3], 0, b, b)]))  # fmt: skip
    assert 2 == load("inspect", data=log).facts.n_items
    assert [log] == list(tmp_path.iterdir())
    said = refused(log, raw_zip([("header.json", 0, HEAD, HEAD), (climbing[3], 0, b"{", b"{")]))
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the file is empty"),
        (b"hello", "is no zip, and so no .eval log"),
        (raw_zip([("a.txt", 0, b"x", b"x")]), "it holds no header.json"),
        (raw_zip([("header.json", 0, b"[]", b"[]")]), "header.json: is a list, not an object"),
        (raw_zip([("header.json", 0, b"{}", b"{}")]), "it has no 'eval'"),
        (raw_zip([("header.json", 0, b"{", b"{")]), "header.json: is not JSON"),
        (raw_zip([("header.json", 0, b'{"a": "\xff"}', b'{"a": "\xff"}')]), "header.json: is not UTF-8"),
        (raw_zip([("header.json", 99, HEAD, HEAD)]), "compressed by method 99"),
        (raw_zip([("header.json", 0, b"[" * 100_000, b"[" * 100_000)]), "is nested too deeply"),
        (raw_zip([("header.json", 0, b"9" * 9999, b"9" * 9999)]), "header.json: Exceeds the limit"),
        (raw_zip([("header.json", 0, HEAD, HEAD)]), "no sample has any message"),
        (raw_zip([("header.json", 0, HEAD, HEAD), ("samples/1_epoch_1.json", 0, b"3", b"3")]), "is a int, not an object"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused_in_one_line(log, raw, message):
    assert message in refused(log, raw)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("{}", "is no log of Inspect"),
        ('{"eval": 3}', "is no log of Inspect"),
        ('{"eval": {}, "samples": 3}', "'samples' is no list"),
        ('{"eval": {}, "samples": [3]}', "sample 1: is a int, not an object"),
        ("{", "is not JSON"),
    ],
)
def test_json_that_is_no_log_is_refused(tmp_path, text, message):
    assert message in refused(tmp_path / "x.json", text.encode())


def test_a_run_that_was_cut_off_is_read_as_far_as_it_is(log):
    start = json.dumps({"version": 2, "eval": {"task": "shop"}, "plan": {}}).encode()
    log.write_bytes(raw_zip([("_journal/start.json", 0, start, start), ("samples/1_epoch_1.json", 0, ONE, ONE)]))  # fmt: skip
    corpus = load("inspect", data=log)
    assert 1 == corpus.facts.n_items
    assert "x.eval: the run did not finish; its samples so far are read." in corpus.facts.notes


def test_a_sample_in_chunks_is_put_together(log):
    messages = [{"role": "user", "content": "attachment://1"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]  # fmt: skip
    at = "samples/7_epoch_1"
    parts = {
        f"{at}/sample.json": {"id": 7, "epoch": 1, "input": "x", "message_refs": [[0, 2]]},
        f"{at}/metadata.json": {"harmful": True},
        f"{at}/messages/0.json": messages[:2],
        f"{at}/messages/2.json": messages[2:],
        f"{at}/events/0.json": [],
        f"{at}/events/stats.json": {},
        f"{at}/attachments/0.json": ["zero", "one"],
    }
    members = [(n, 0, r, r) for n, v in parts.items() if (r := json.dumps(v).encode())]
    log.write_bytes(raw_zip([("header.json", 0, HEAD, HEAD), *members]))
    (item,) = load(
        "inspect", data=f"{log}?gold=metadata.harmful&label=true:UNSAFE&source=rule"
    ).items
    assert ["one", "b"] == [t.action or t.content for t in item.trajectory.turns]
    assert ("7", "UNSAFE") == (item.id, item.label)
    lost = [m for m in members if not m[0].endswith("messages/0.json")]
    said = refused(log, raw_zip([("header.json", 0, HEAD, HEAD), *lost]))
    assert "messages/2.json: a chunk is missing" in said


def test_a_pin_is_checked(log):
    write_eval(log, [sample()])
    version = load("inspect", data=log).facts.version
    assert 1 == load("inspect", data=log, revision=version).facts.n_items
    with pytest.raises(CorpusError, match="not the pinned"):
        load("inspect", data=log, revision="sha256:" + "0" * 64)
    load("inspect", data=log.parent)
    with pytest.raises(CorpusError, match="holds no logs"):
        load("inspect", data=log.parent.parent)
