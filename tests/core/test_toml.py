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
    expected = "/audit.toml:3: unknown key 'polcy'. Did you mean 'policy'?"
    assert expected == message(tmp_path, text)


def test_a_wrong_type_is_named_with_its_value(tmp_path):
    got = message(tmp_path, 'judge = "x"\nlimit = "many"\n')
    assert "/audit.toml:2: key 'limit' is 'many'. It must be a whole number" == got


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("limit = true", "key 'limit' is True. It must be a whole number"),
        ('limit = "5"', "key 'limit' is '5'. It must be a whole number"),
        ("limit = 1.5", "key 'limit' is 1.5. It must be a whole number"),
        ("limit = 0", "key 'limit' is 0. It must be 1 or more"),
        ("concurrency = 5000", "key 'concurrency' is 5000. It must be 4096 or less"),
        ("call_seconds = 0", "key 'call_seconds' is 0. It must be more than 0"),
        ("call_seconds = inf", "key 'call_seconds' is inf. It must be a finite number"),
        ('temperature = "1"', "key 'temperature' is '1'. It must be a number"),
        ("send_seed = 1", "key 'send_seed' is 1. It must be true or false"),
        ('send_seed = "yes"', "key 'send_seed' is 'yes'. It must be true or false"),
        ("judge = 3", "key 'judge' is 3. It must be a text in quotes"),
        ("out = 3", "key 'out' is 3. It must be a path in quotes"),
        ('conditions = "base"', "key 'conditions' is 'base'. It must be a list in brackets"),
        ("decoding = 1", "key 'decoding' is 1. It must be a table"),
        (
            'output_format = "xml"',
            (
                "key 'output_format' is 'xml'. "
                "It must be 'auto', 'plain', 'json_mode', 'json_schema' or 'grammar'"
            ),
        ),
    ],
)
def test_every_kind_of_wrong_value_is_told_in_the_words_of_the_file(tmp_path, line, told):
    assert f"/audit.toml:1: {told}" == message(tmp_path, line)


@pytest.mark.parametrize("key", ["seed", "max_tokens", "control_items", "repeats", "limit"])
def test_a_number_that_no_card_can_hold_is_refused_before_the_first_call(tmp_path, key):
    got = message(tmp_path, f"{key} = {1 << 63}")
    assert f"/audit.toml:1: key {key!r} is {1 << 63}. It must be less than {1 << 63}" == got


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("1979-05-27", "a date, which no request can carry"),
        ("[1, {deep = nan}]", "nan, which no request can carry"),
        (f"{1 << 63}", "a whole number beyond 64 bits"),
    ],
)
def test_decoding_holds_what_a_request_can_carry(tmp_path, value, what):
    assert f"it holds {what}" in message(tmp_path, f"[decoding]\nx = {value}")


def test_a_key_inside_a_list_of_tables_is_found(tmp_path):
    text = 'title = "t"\n[[norms]]\nid = "a"\nforce = "must"\n[[norms]]\nid = "b"\nforse = "x"\n'
    expected = "/audit.toml:7: unknown key 'norms.1.forse'. Did you mean 'force'?"
    assert expected == message(tmp_path, text, Book)


def test_not_toml_not_utf8_and_not_there(tmp_path):
    assert "is not TOML" in message(tmp_path, "judge = \n")
    assert "is not UTF-8 (byte 9)" in message(tmp_path, b'judge = "\xff"\n')
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(tmp_path / "none.toml")
