"""Sign a card, and check who signed it: Ed25519 over the card's canonical JSON.

The bytes that are signed are those of the JSON value, not of the file: keys sorted, no blanks,
behind a line that says what they are. White space may change, a figure may not, and a signature
on a card can never be taken for one on something else. Whoever checks brings the public key:
a key that came with the card would prove nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import ValidationError

from judgeaudit.cards.jsonio import parsed, read
from judgeaudit.cards.verify import text_of
from judgeaudit.core.errors import CardError
from judgeaudit.core.hashing import canonical_json
from judgeaudit.core.records import Record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

__all__ = [
    "KEY_SUFFIXES",
    "SIGNATURE_SUFFIX",
    "Signature",
    "SignatureMismatchError",
    "check",
    "key_id",
    "make_keys",
    "sign",
    "signature_path",
    "signed_bytes",
    "write_signature",
]

KEY_SUFFIXES: Final = (".key.pem", ".pub.pem")
"""Ends of the names of a private and a public key."""

SIGNATURE_SUFFIX: Final = ".sig"

_HEAD: Final = b"judgeaudit card signature 1\n"
_MOST: Final = 64 * 1024


class SignatureMismatchError(CardError):
    """A signature that does not hold: another key's, or another card's."""

    exit_code = 1


class Signature(Record):
    """A detached signature on a card.

    Parameters
    ----------
    key_id : str
        sha256 of the public key's 32 bytes.
    card_sha256 : str
        sha256 of the bytes that were signed.
    signature : str
        Base64 of the 64 bytes of Ed25519.
    """

    format: Literal["judgeaudit-card-signature-1"] = "judgeaudit-card-signature-1"
    algorithm: Literal["Ed25519"] = "Ed25519"
    key_id: str
    card_sha256: str
    signature: str


def _need_library() -> None:
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError as e:
        raise CardError(
            "signing needs the library cryptography",
            mend="Install it: pip install 'judgeaudit[sign]'",
        ) from e


def signed_bytes(text: str, *, where: str = "card") -> bytes:
    """Return the bytes of a card that a signature is made on.

    Parameters
    ----------
    text : str
        A card's JSON, of any layout that this program reads; signed as it stands, not migrated.

    Raises
    ------
    CardError
        If it is not a card.
    """
    read(text, where=where)  # whoever signs must know what
    return _HEAD + canonical_json(parsed(text, where)).encode()


def _bytes_of(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as f:
            found = f.read(_MOST + 1)
    except OSError as e:
        raise CardError(f"the {what} cannot be read: {e.strerror or e}", where=str(path)) from e
    if len(found) > _MOST:
        raise CardError(f"too large for a {what}", where=str(path))
    return found


def _private(path: Path) -> Ed25519PrivateKey:
    _need_library()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_bytes_of(path, "private key"), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as e:
        raise CardError(
            "not a private key in PEM without a passphrase",
            where=str(path),
            mend="Make one with judgeaudit card keygen",
        ) from e
    if not isinstance(key, Ed25519PrivateKey):
        raise CardError("not a key of Ed25519", where=str(path))
    return key


def _public(path: Path) -> Ed25519PublicKey:
    _need_library()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_bytes_of(path, "public key"))
    except (ValueError, TypeError, UnsupportedAlgorithm) as e:
        raise CardError(
            "not a public key in PEM",
            where=str(path),
            mend=f"Give the {KEY_SUFFIXES[1]} of judgeaudit card keygen",
        ) from e
    if not isinstance(key, Ed25519PublicKey):
        raise CardError("not a key of Ed25519", where=str(path))
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """Name a public key by the sha256 of its 32 bytes."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as e:
        raise CardError("there is a file already", where=str(path), mend="Give another name") from e
    except OSError as e:
        raise CardError(f"cannot be written: {e.strerror or e}", where=str(path)) from e
    with os.fdopen(handle, "wb") as f:
        f.write(content)


def make_keys(stem: Path) -> tuple[Path, Path, str]:
    """Make a pair of keys; neither file may be there.

    Parameters
    ----------
    stem : path
        Where: `stem` with `.key.pem` (readable by its owner alone) and with `.pub.pem`.

    Returns
    -------
    tuple
        Private key, public key, and the key's id.

    Raises
    ------
    CardError
        If a file is there already or cannot be written, or the library is missing.
    """
    _need_library()
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private, public = (stem.with_name(stem.name + end) for end in KEY_SUFFIXES)
    if public.exists():
        raise CardError("there is a file already", where=str(public), mend="Give another name")
    pem = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    _write_new(private, pem, 0o600)
    _write_new(
        public,
        key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo),
        0o644,
    )
    return private, public, key_id(key.public_key())


def sign(card: Path, key: Path) -> Signature:
    """Sign a card's file.

    Parameters
    ----------
    card : path
        The card.json.
    key : path
        The private key, PEM.

    Raises
    ------
    CardError
        If one of them cannot be read, or the library is missing.
    """
    private = _private(key)
    message = signed_bytes(text_of(card), where=str(card))
    return Signature(
        key_id=key_id(private.public_key()),
        card_sha256=hashlib.sha256(message).hexdigest(),
        signature=base64.b64encode(private.sign(message)).decode(),
    )


def signature_path(card: Path) -> Path:
    """Return the place of a card's signature where none is named."""
    return card.with_name(card.name + SIGNATURE_SUFFIX)


def write_signature(found: Signature, path: Path) -> None:
    """Write a signature; an earlier one is replaced, whole or not at all.

    Raises
    ------
    CardError
        If it cannot be written.
    """
    text = json.dumps(found.model_dump(mode="json"), sort_keys=True, indent=2) + "\n"
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fresh.unlink(missing_ok=True)
        _write_new(fresh, text.encode(), 0o666)
        fresh.replace(path)
    except OSError as e:
        raise CardError(f"cannot be written: {e.strerror or e}", where=str(path)) from e
    finally:
        fresh.unlink(missing_ok=True)


def _read_signature(path: Path) -> tuple[Signature, bytes]:
    try:
        found = Signature.model_validate_json(_bytes_of(path, "signature"), strict=True)
        return found, base64.b64decode(found.signature, validate=True)
    except (ValidationError, binascii.Error, ValueError) as e:
        raise CardError(
            "not a signature on a card",
            where=str(path),
            mend=f"Give the {SIGNATURE_SUFFIX} file of judgeaudit card sign",
        ) from e


def check(card: Path, signature: Path, public_key: Path) -> Signature:
    """Check that a key signed this very card.

    Parameters
    ----------
    card, signature, public_key : path
        The card.json, its signature, and a public key that the reader trusts.

    Returns
    -------
    Signature
        The signature, which holds.

    Raises
    ------
    SignatureMismatchError
        If another key signed, or the card was changed since (exit code 1).
    CardError
        If a file is missing or is not what it should be, or the library is missing.
    """
    key = _public(public_key)
    from cryptography.exceptions import InvalidSignature

    found, signature_bytes = _read_signature(signature)
    message = signed_bytes(text_of(card), where=str(card))
    mine = key_id(key)
    if found.key_id != mine:
        raise SignatureMismatchError(
            f"signed with the key {found.key_id[:16]!r}, not with {mine[:16]!r} of {public_key}",
            where=str(signature),
        )
    try:
        key.verify(signature_bytes, message)
    except InvalidSignature as e:
        altered = found.card_sha256 != hashlib.sha256(message).hexdigest()
        what = "the card was changed after it was signed" if altered else "the signature is broken"
        raise SignatureMismatchError(what, where=str(card)) from e
    if found.card_sha256 != hashlib.sha256(message).hexdigest():
        raise SignatureMismatchError(
            "the signature holds, but states another hash of the card", where=str(signature)
        )
    return found
