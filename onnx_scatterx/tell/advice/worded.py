"""What a search for advice has found, in words: for each group of nodes its reason and commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from onnx_scatterx.grouping import grouped
from onnx_scatterx.tell.advice.again import Again
from onnx_scatterx.tell.advice.change import Command, Found
from onnx_scatterx.tell.advice.instead import recipe_for
from onnx_scatterx.tell.advice.price import Price, largest
from onnx_scatterx.tell.advice.together import together
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.kept_advice import Advice, Way, refused_text

if TYPE_CHECKING:
    from onnx_scatterx.tell.advice.search import Search

_REASONS = 4  # why other nodes are refused, in one line
_FEW = 2  # of what would be left out: so many are told after all


class _Commands:
    """Makes commands of what was found. A command has the highest price of all its nodes."""

    def __init__(self, search: Search, base: Command, again: Again) -> None:
        self._search, self._base, self._again = search, base, again
        self._prices: dict[str, list[Price]] = {}
        self._examples: set[str] = set()

    def of(self, found: Iterable[Found]) -> tuple[Way, ...]:
        """Return commands without their prices."""
        ways = []
        for change, rules, price in self._search.least(found):
            also = self._again.told(change) if change.fix else ""
            way = Way(change.command(self._base), change.condition(also), rules, change.added)
            self._prices.setdefault(way.command, []).extend([] if price is None else [price])
            self._examples |= {way.command} if change.fix else set()
            ways.append(way)
        return tuple(ways)

    def priced(self, ways: Iterable[Way]) -> tuple[Way, ...]:
        """Return commands whose conditions name the price of a dense form."""
        made = []
        for way in ways:
            price, at = largest(self._prices[way.command]), ""
            if way.command in self._examples:  # it grows with the user's own numbers
                at = " at these numbers"
            told = [way.condition] * bool(way.condition) + [f"{price}{at}"] * (price is not None)
            made.append(replace(way, condition="; ".join(told)))
        return tuple(made)


def about_all(search: Search, base: Command, again: Again) -> Iterator[Advice]:
    """Yield advice about all nodes that one command removes, if each has a command of its own."""
    found = together(search)
    if found is None or len(found.keys) < 2:
        return
    commands = _Commands(search, base, again)
    ways = commands.priced(commands.of([found.found]))
    kept = (record.entry.node for record in search.stuck if search.key(record) in found.keys)
    refused = (nodes for key, nodes in search.refused.items() if key in found.keys)
    nodes = tuple(dict.fromkeys((*kept, *chain.from_iterable(refused))))
    there = [record for record in search.stuck if search.key(record) in found.keys]
    instead = _instead(there, search) if found.found.change.asks else ""
    why = "one command removes all of these"
    yield Advice(nodes, why, "", ways, is_together=True, instead=instead)


def about_kept(search: Search, base: Command, again: Again) -> Iterator[Advice]:
    """Yield advice about the scatters and gathers that are kept."""
    commands, found, taken = _Commands(search, base, again), [], search.taken()
    for record in search.stuck:
        key = search.key(record)
        ways = commands.of(search.ways.get(key, ()))
        large = () if ways else commands.of(search.too_large.get(key, ()))
        refusal = None if ways or large else search.refusal(record)
        found.append(((ways, large, refusal, key in taken), record))
    for (ways, large, _, is_taken), records in grouped(found).items():
        nodes = tuple(record.entry.node for record in records)
        why, missing = _reasons(records, search, told=bool(ways))
        large, ways = commands.priced(large), commands.priced(ways)
        instead = "" if is_taken or large else _instead(records, search)
        at_sizes = any(search.refusal(record) != record.entry.refusal for record in records)
        yield Advice(
            nodes,
            why,
            missing,
            ways,
            is_taken=is_taken,
            too_large=large,
            instead=instead,
            at_sizes=at_sizes and bool(search.base.fix),
        )


def _instead(records: Sequence[NodeRecord], search: Search) -> str:
    """Return what to write in the module, if each command asks for something; empty: not known."""
    told = []
    for record in records:
        ways, refusal = search.ways.get(search.key(record), ()), search.refusal(record)
        asks = all(way.change.asks for way in ways)
        if asks and refusal is not None:
            known = recipe_for(record, refusal.reason)
            told += [] if known is None else [str(known)]
    return "; ".join(dict.fromkeys(told))


def _reasons(records: Sequence[NodeRecord], search: Search, *, told: bool) -> tuple[str, str]:
    """Return why nodes are kept, and what is missing; ``told``: commands name the sizes."""
    chosen = " ".join(f"{name}={number}" for name, number in search.base.fix.items())
    sizes = chosen if chosen and not told else "sizes fixed"
    found = [(record.entry.refusal, search.refusal(record)) for record in records]
    refusals = [refusal for _, refusal in found if refusal is not None]
    # With the sizes fixed, a node may be kept for another reason than the table of nodes says.
    reasons = dict.fromkeys(
        str(now) if str(now) == str(first) else f"with {sizes}, {now}"
        for first, now in found
        if now is not None
    )
    missing = dict.fromkeys(refusal.reason.missing for refusal in refusals)
    keys = map(search.key, records)
    needed = dict.fromkeys(search.lacks[key] for key in keys if key in search.lacks)
    missing |= dict.fromkeys(f"or {n}, for the form that compares all positions" for n in needed)
    return "; ".join(reasons), "; ".join(missing)


def about_refused(search: Search, base: Command, again: Again) -> Iterator[Advice]:
    """Yield advice about other nodes that the target does not take, and scatters on its host.

    Such a scatter has advice only if a command removes it: the list of violations names the others.
    """
    commands = _Commands(search, base, again)
    hosted = {(v.op, v.why) for v in search.violations or () if v.is_taken}
    told_of = ((commands.of(search.ways.get(key, ())), key) for key in search.refused)
    found = grouped(((ways, bool(ways) and key in hosted), key) for ways, key in told_of)
    for (ways, on_host), keys in found.items():
        shown = len(keys) if len(keys) <= _REASONS + _FEW else _REASONS
        told = [refused_text(*key, search.refused[key]) for key in keys[:shown]]
        told += [f"and {len(keys) - shown} more reasons"] if len(keys) > shown else []
        nodes = dict.fromkeys(node for key in keys for node in search.refused[key])
        if on_host:
            told = [f"with sizes fixed, {why}" if search.base.fix else why for _, why in keys]
        missing = "a compiler that takes this"
        yield Advice(tuple(nodes), "; ".join(told), missing, ways, is_violation=not on_host)
