"""The ad-hoc code signature that macOS asks of a library for Apple's processors.

A signed slice ends with a list of blobs. One of them, the code directory, holds a hash of every
page before it. Numbers are big-endian.
"""

from __future__ import annotations

import hashlib
import struct

_LIST, _DIRECTORY = 0xFADE0CC0, 0xFADE0C02
_SHA256 = 2


def is_signed(library: bytes, offset: int) -> bool:
    """Return whether the signature at ``offset`` has the right hash for every page before it."""
    magic, _, count = struct.unpack_from(">3I", library, offset)
    if magic != _LIST:
        return False
    for i in range(count):
        _, place = struct.unpack_from(">2I", library, offset + 12 + 8 * i)
        if struct.unpack_from(">I", library, offset + place)[0] == _DIRECTORY:
            return _has_right_hashes(library, offset, offset + place)
    return False


def _has_right_hashes(library: bytes, end: int, directory: int) -> bool:
    numbers = struct.unpack_from(">9I4B", library, directory)
    _, _, _, _, hashes, _, _, pages, limit, size, kind, _, page = numbers  # page is a logarithm
    if kind != _SHA256 or limit != end:
        return False
    for i in range(pages):
        content = library[i << page : min((i + 1) << page, limit)]
        start = directory + hashes + i * size
        if hashlib.sha256(content).digest() != library[start : start + size]:
            return False
    return bool(pages << page >= limit)
