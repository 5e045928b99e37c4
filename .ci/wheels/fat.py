"""A fat Mach-O file: the unchanged libraries for several processors in one file.

header   magic, number of slices                                  big-endian, 32 bits each
for each slice: processor (2 numbers), offset, size, log2 of its alignment
slices   each at a multiple of its alignment
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_FAT, _THIN = 0xCAFEBABE, 0xFEEDFACF
_ALIGNMENT = 14  # 16 KiB, a page of the newer processors


def fat(libraries: Sequence[bytes]) -> bytes:
    """Return one library of several for different processors.

    Raises ValueError if a file is not a 64-bit Mach-O library, or if two are for one processor.
    """
    slices = sorted((_processor(library), library) for library in libraries)
    processors = [processor for processor, _ in slices]
    if len(set(processors)) < len(processors):
        raise ValueError("two libraries are for the same processor")
    header = struct.pack(">2I", _FAT, len(slices))
    end, content = len(header) + 20 * len(slices), b""
    for processor, library in slices:
        start = _aligned(end)
        header += struct.pack(">5I", *processor, start, len(library), _ALIGNMENT)
        content += bytes(start - end) + library
        end = start + len(library)
    return header + content


def _processor(library: bytes) -> tuple[int, int]:
    """Return the processor, and which model of it, as the header of a thin file names them."""
    magic, kind, model = struct.unpack_from("<3I", library.ljust(12, b"\0"))
    if magic != _THIN:
        raise ValueError("the file is not a 64-bit Mach-O library")
    return kind, model


def _aligned(size: int) -> int:
    return -(-size >> _ALIGNMENT) << _ALIGNMENT
