"""Who signed a card, and that it is still the card that was signed."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import pytest
from card_runs import CASES
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from judgeaudit import cards
from judgeaudit.cards import signing
from judgeaudit.core.errors import CardError


@pytest.fixture
def signed(tmp_path):
    """A card, its signature, and the pair of keys."""
    card = tmp_path / "card.json"
    card.write_text(cards.to_json(CASES["fragile"]().card()), encoding="utf-8")
    private, public, _ = signing.make_keys(tmp_path / "me")
    made = signing.sign(card, private)
    signing.write_signature(made, signing.signature_path(card))
    return card, signing.signature_path(card), private, public


def test_a_signature_holds_for_the_key_that_made_it(signed):
    card, sig, _, public = signed
    found = signing.check(card, sig, public)
    held = json.loads(sig.read_text(encoding="utf-8"))
    assert held == found.model_dump(mode="json")
    assert held["algorithm"] == "Ed25519"
    assert sig.name == "card.json.sig"


def test_the_library_itself_confirms_it(signed):
    card, sig, _, public = signed
    held = json.loads(sig.read_text(encoding="utf-8"))
    key = serialization.load_pem_public_key(public.read_bytes())
    # as a reader without judgeaudit would: canonical JSON behind one line
    value = json.loads(card.read_text(encoding="utf-8"))
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    message = b"judgeaudit card signature 1\n" + canonical.encode()
    key.verify(base64.b64decode(held["signature"]), message)


def test_signing_twice_gives_the_same_signature(signed):
    card, _, private, _ = signed
    assert signing.sign(card, private) == signing.sign(card, private)


def test_white_space_may_change_and_nothing_else(signed):
    card, sig, _, public = signed
    value = json.loads(card.read_text(encoding="utf-8"))
    card.write_text(json.dumps(value, indent=None), encoding="utf-8")
    signing.check(card, sig, public)
    value["headline"]["stance"] = "no_obstacle"
    card.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(
        signing.SignatureMismatchError, match="changed after it was signed"
    ) as caught:
        signing.check(card, sig, public)
    assert caught.value.exit_code == 1
    assert str(card) in str(caught.value)


def test_another_key_is_named(signed, tmp_path):
    card, sig, _, public = signed
    _, other, _ = signing.make_keys(tmp_path / "other")
    with pytest.raises(signing.SignatureMismatchError, match=r"signed with the key .* not with"):
        signing.check(card, sig, other)
    assert signing.check(card, sig, public)


@pytest.mark.parametrize("field", ["signature", "card_sha256", "key_id"])
def test_each_field_of_the_signature_counts(signed, field):
    card, sig, _, public = signed
    held = json.loads(sig.read_text(encoding="utf-8"))
    held[field] = (
        base64.b64encode(bytes(64)).decode() if field == "signature" else "0" * len(held[field])
    )
    sig.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(signing.SignatureMismatchError):
        signing.check(card, sig, public)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff",
        b"[" * 10_000,
        b'{"algorithm": "none", "key_id": "a", "card_sha256": "b", "signature": ""}',
        b'{"key_id": "a", "card_sha256": "b", "signature": "not base64!"}',
        b"x" * 100_000,
    ],
)
def test_what_is_no_signature_is_refused_in_one_line(signed, content):
    card, sig, _, public = signed
    sig.write_bytes(content)
    with pytest.raises(CardError) as caught:
        signing.check(card, sig, public)
    assert not isinstance(caught.value, signing.SignatureMismatchError)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(signed, tmp_path):
    card, sig, private, public = signed
    gone = tmp_path / "gone"
    for call in (
        lambda: signing.check(gone, sig, public),
        lambda: signing.check(card, gone, public),
        lambda: signing.check(card, sig, gone),
        lambda: signing.sign(gone, private),
        lambda: signing.sign(card, gone),
    ):
        with pytest.raises(CardError, match="cannot be read: No such file") as caught:
            call()
        assert str(gone) in str(caught.value)


def test_a_key_of_another_kind_is_refused(signed, tmp_path):
    card, sig, private, public = signed
    other = ec.generate_private_key(ec.SECP256R1())
    pem = tmp_path / "ec.pem"
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    pem.write_bytes(other.private_bytes(*form, serialization.NoEncryption()))
    with pytest.raises(CardError, match="not a key of Ed25519"):
        signing.sign(card, pem)
    with pytest.raises(CardError, match="not a private key"):
        signing.sign(card, public)
    with pytest.raises(CardError, match="not a public key"):
        signing.check(card, sig, private)
    locked = ed25519.Ed25519PrivateKey.generate()
    pem.write_bytes(locked.private_bytes(*form, serialization.BestAvailableEncryption(b"x")))
    with pytest.raises(CardError, match="without a passphrase"):
        signing.sign(card, pem)


def test_what_is_no_card_is_not_signed(signed, tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(CardError, match="not a Judge Card"):
        signing.sign(path, signed[2])


def test_the_private_key_is_the_owners_alone_and_no_key_is_replaced(tmp_path):
    private, public, name = signing.make_keys(tmp_path / "k")
    assert oct(0o600) == oct(private.stat().st_mode & 0o777)
    assert len(name) == 64
    before = private.read_bytes(), public.read_bytes()
    with pytest.raises(CardError, match="there is a file already"):
        signing.make_keys(tmp_path / "k")
    private.unlink()
    with pytest.raises(CardError, match="there is a file already"):
        signing.make_keys(tmp_path / "k")
    assert not private.exists()
    assert before[1] == public.read_bytes()


def test_a_signature_on_an_older_card_holds_without_migration(signed, tmp_path):
    from pathlib import Path

    older = Path(__file__).parent / "older" / "1.0" / "card.json"
    made = signing.sign(older, signed[2])
    sig = tmp_path / "older.sig"
    signing.write_signature(made, sig)
    assert made == signing.check(older, sig, signed[3])


def test_without_the_library_the_message_names_the_extra(tmp_path):
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from pathlib import Path; from judgeaudit.cards import signing\n"
        "try: signing.make_keys(Path(sys.argv[1]))\n"
        "except signing.CardError as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "k")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install 'judgeaudit[sign]'" in done.stdout
    assert [] == list(tmp_path.iterdir())


def test_cards_are_made_without_loading_the_library():
    code = "import sys; from judgeaudit import cards, audit; print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
