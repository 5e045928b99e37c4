"""Faces: the names of a room that other rooms may use, each imported when it is first used.

A room is a folder of the package. Its ``__init__`` says in a docstring what to come for, and lists
the names. So other rooms need not know its modules, and importing a room costs nothing:

    if TYPE_CHECKING:
        from onnx_scatterx.graphs.cleanup import Names as Names
    else:
        __getattr__, __dir__, __all__ = face(__name__, {"cleanup": "Names"})

No name may be that of a module in the folder: importing the module would hide it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def face(
    room: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a room.

    ``homes`` has the modules of the room, each with its names. A name is looked up anew each time:
    what another module takes is what the home has at that moment. An attribute that the room lacks
    is an AttributeError.

    >>> get, names, _ = face("onnx_scatterx", {"grouping": "grouped"})
    >>> names(), get("grouped").__name__
    (['grouped'], 'grouped')
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    listed = sorted(home)

    def get(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{room}.{home[name]}"), name)

    return get, lambda: listed, listed
