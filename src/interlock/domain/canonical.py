"""Canonical JSON: one spelling per value, exact numbers, and the hash of it."""

import hashlib
from decimal import Decimal
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="sorted", decimal_format="number")
_decoder = msgspec.json.Decoder(float_hook=Decimal)


def encode(value: Any) -> str:
    """Sorted keys, no spaces, decimals written out as numbers."""
    return _encoder.encode(value).decode()


def decode(text: str | bytes) -> Any:
    """Read JSON exactly: a number with a point or an exponent becomes a Decimal."""
    return _decoder.decode(text)


def content_hash(value: Any, length: int = 64) -> str:
    """The first hex digits of the SHA-256 of the canonical text."""
    return hashlib.sha256(_encoder.encode(value)).hexdigest()[:length]


def as_json(value: Any) -> Any:
    """A struct as plain JSON values, numbers exact."""
    return decode(encode(value))
