"""A wrong file is named by file, line and key."""

from __future__ import annotations

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, Record
from judgeaudit.core.toml import read_toml, record_from


class Norm(Record):
    id: str
    force: str


class Book(Record):
    title: str
    norms: tuple[Norm, ...] = ()


def load(tmp_path, text, model=AuditSpec):
    path = tmp_path / "audit.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    data, source = read_toml(path)
    return record_from(model, data, text=source, path=path)


def message(tmp_path, text, model=AuditSpec) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, model)
    return str(caught.value).replace(str(tmp_path), "")


def test_a_good_file_is_read(tmp_path):
    spec = load(tmp_path, b'\xef\xbb\xbfjudge = "scripted:quiet"\r\nlimit = 5\r\n')
    assert "scripted:quiet" == spec.judge
    assert 5 == spec.limit


def test_a_wrong_key_is_named_with_its_line_and_a_suggestion(tmp_path):
    text = '# my audit\njudge = "x"\npolcy = "p"\n'
    expected = "/audit.toml:3: unknown key 'polcy'. Did you mean 'policy'"
    assert expected == message(tmp_path, text)


def test_a_wrong_type_is_named_with_its_value(tmp_path):
    got = message(tmp_path, 'judge = "x"\nlimit = "many"\n')
    assert got.startswith("/audit.toml:2: key 'limit' is 'many': Input should be a valid integer")


def test_a_key_inside_a_list_of_tables_is_found(tmp_path):
    text = 'title = "t"\n[[norms]]\nid = "a"\nforce = "must"\n[[norms]]\nid = "b"\nforse = "x"\n'
    expected = "/audit.toml:7: unknown key 'norms.1.forse'. Did you mean 'force'"
    assert message(tmp_path, text, Book) in {
        expected,
        "/audit.toml:5: key 'norms.1.force' is missing. Add it",
    }


def test_not_toml_not_utf8_and_not_there(tmp_path):
    assert "is not TOML" in message(tmp_path, "judge = \n")
    assert "is not UTF-8 (byte 9)" in message(tmp_path, b'judge = "\xff"\n')
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(tmp_path / "none.toml")
