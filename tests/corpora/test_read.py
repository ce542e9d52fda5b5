"""Files to records: what is accepted, and one clear line for what is not."""

from __future__ import annotations

import hashlib
import json

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load
from judgeaudit.corpora._read import open_source, records


def _error(path, name="rjudge"):
    with pytest.raises(CorpusError) as caught:
        load(name, data=path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "the file is empty"),
        (b" \r\n\t\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"[]", "the list holds no records"),
        (b"<html>", "is not JSON: Expecting value at column 1"),
        (b'[{"id": 1},\n {"id": 2', "is not JSON: Expecting ',' delimiter at line 2, column"),
        (b'[{"id": 1, "label": NaN}]', "NaN is not JSON"),
        (b'[{"id": 1, "label": -Infinity}]', "-Infinity is not JSON"),
        (b'[{"id": 1, "label": 0, "label": 1}]', "the key 'label' stands twice in one object"),
        (b'[{"id": ' + b"9" * 5000 + b"}]", "Exceeds the limit"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'["text"]', "record 1: is a text, not an object with named fields"),
        (b"[[1]]", "record 1: is a list, not an object"),
        (b"[{}, null]", "record 2: is null, not an object"),
        (b'[{"id": "caf\xe9"}]', "is not UTF-8: byte 12 is 0xe9"),
        ("[]".encode("utf-16"), "is not UTF-8: byte 0 is 0xff (it looks like UTF-16)"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_in_one_line(write, raw, says):
    path = write("data.json", raw)
    found = _error(path) if b"{}" not in raw else _message(path)
    assert found.startswith(str(path))
    assert says in found


def _message(path):
    with pytest.raises(CorpusError) as caught:
        records(open_source(str(path)))
    return str(caught.value)


def test_a_line_of_jsonl_is_named_by_its_number(write):
    path = write("data.jsonl", b'{"id": 1}\n\n{"id": 2,}\n')
    found = _message(path)
    assert f"{path}:3: is not JSON: " in found
    assert "at column 9" in found or "at column 10" in found


def test_a_missing_file_is_named_and_a_hub_name_is_recognised(tmp_path):
    assert f"{tmp_path}/none.json: no such file. Check the path" == _error(tmp_path / "none.json")
    assert "for a dataset on the hub write hub:owner/name/PATH/IN/IT" in _error("owner/name")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(CorpusError, match="is a folder, not a file"):
        load("jsonl", data=tmp_path)


def test_bom_and_crlf_change_nothing(write, rjudge_record):
    plain = json.dumps([rjudge_record(n) for n in range(4)], indent=1)
    one = write("a/rjudge.json", plain.encode())
    two = write("b/rjudge.json", b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    assert load("rjudge", data=one).items == load("rjudge", data=two).items


def test_crlf_inside_a_text_is_kept(write, own_record):
    turns = [{"role": "user", "content": "a\r\nb\rc\u2028d\u0085e\x00f"}]
    path = write("x.json", [own_record(1, trajectory={"turns": turns})])
    assert (
        "a\r\nb\rc\u2028d\u0085e\x00f"
        == load("jsonl", data=path).items[0].trajectory.turns[0].content
    )


def test_unicode_line_separators_do_not_split_a_line(write, own_record):
    rows = [
        own_record(n, trajectory={"turns": [{"role": "user", "content": f"{c}{n}"}]})
        for n, c in enumerate("\u2028\u2029\u0085\x0b\x0c\x1c")
    ]
    raw = "\r\n".join(json.dumps(r, ensure_ascii=False) for r in rows[:3])
    found = load("jsonl", data=write("x.jsonl", raw.encode())).items
    assert ["\u20280", "\u20291", "\u00852"] == [i.trajectory.turns[0].content for i in found]


def test_one_object_over_several_lines_is_one_record(write, own_record):
    path = write("x.json", json.dumps(own_record("a"), indent=2).encode())
    assert ["jsonl/default/a"] == [i.key for i in load("jsonl", data=path).items]


def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_kept(write, own_record):
    def file(text):
        raw = json.dumps([own_record(1, trajectory={"turns": [{"role": "user", "content": text}]})])
        return write("x.json", raw.encode())

    assert (
        "\U0001f600" == load("jsonl", data=file("\U0001f600")).items[0].trajectory.turns[0].content
    )
    found = _error(file("ab\ud83d"), "jsonl")
    assert "turn 1: content holds half a surrogate pair (U+D83D) at character 2" in found


def test_local_data_can_be_pinned_by_its_hash(write, own_record):
    path = write("x.json", [own_record(1)])
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"sha256:{right}" == load("jsonl", data=path, revision=f"sha256:{right}").facts.version
    with pytest.raises(CorpusError, match=f"has sha256 {right}, not the pinned {'0' * 64}"):
        load("jsonl", data=path, revision="sha256:" + "0" * 64)
    with pytest.raises(ConfigError, match="'main' cannot be checked against local data"):
        load("jsonl", data=path, revision="main")
