"""Small models that are costly to look at: each asks for far more than its bytes tell.

``HOSTILE`` has them by name; the number that each takes is how often what costs is repeated, and
``LARGE`` makes it a model of up to 1 MB; those in ``HUGE`` are larger. ``pyramid`` is none of them:
exporters write such models, and it is to be rewritten.
"""

from tests.helpers.hostile import elements, nesting, repeated, sizes, writes
from tests.helpers.hostile.pyramids import pyramid
from tests.helpers.hostile.registry import HOSTILE, HUGE, LARGE

__all__ = [
    "HOSTILE",
    "HUGE",
    "LARGE",
    "elements",
    "nesting",
    "pyramid",
    "repeated",
    "sizes",
    "writes",
]
