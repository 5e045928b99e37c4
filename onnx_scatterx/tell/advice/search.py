"""The search for arguments that remove the kept scatters, by trying them.

First each change is tried that a reason suggests. If a change gives a node another reason, the
node's new reason suggests changes that are tried with the first one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_

from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.tell.advice.candidates import candidates, fixed
from onnx_scatterx.tell.advice.change import Change, Found
from onnx_scatterx.tell.advice.price import Price, limit_of
from onnx_scatterx.tell.advice.sizes import needs_at
from onnx_scatterx.tell.advice.trials import Key, Result, Trials, key_of, refusals_of
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.text import Missing, Refusal

_CHANGES = 24  # the most that are tried alone on one model
_TOGETHER = 24  # the most that are tried together
_DEPTH = 2  # how often the reasons under a change suggest more changes
_FOLLOWED = 6  # changes whose reasons do so, each time
_ALONE = 0.6  # the share of the steps for changes that are tried alone
_OPEN = 0.5  # of the rest: for changes together that remove what none of these removes
_WAYS = 3  # the most commands for one scatter


@dataclass
class Search(Trials):
    """The changes of a model that are tried, and what they show.

    ``ways`` are the changes that remove a node, ``too_large`` those that do so by a larger dense
    form than the target allows. ``lacks`` are the operators that the target lacks for a dense form.
    ``removed`` has, by the statements of each change that was tried, the nodes that it removes.
    ``suggested`` are changes to try next, each with the nodes whose reasons suggest it.
    """

    ways: dict[Key, list[Found]] = field(default_factory=dict)
    too_large: dict[Key, list[Found]] = field(default_factory=dict)
    removed: dict[frozenset[object], dict[Key, Found]] = field(default_factory=dict)
    lacks: dict[Key, Missing] = field(default_factory=dict)
    suggested: list[tuple[Change, set[Key]]] = field(default_factory=list)
    _idle: list[frozenset[object]] = field(default_factory=list)
    _followed: int = 0

    @cached_property
    def numbers(self) -> Change | None:
        """The change that gives each size of the model a number."""
        return fixed(self.whole)

    def refusal(self, record: NodeRecord) -> Refusal | None:
        """Return why a node is kept with ``base``; if this is not known, why without ``base``."""
        return self.later.get(key_of(record.entry), record.entry.refusal)

    def left_over(self) -> list[str]:
        """Return the untried changes, if a node is left that no tried change removes."""
        keys = (*(key_of(record.entry) for record in self.stuck), *self.refused)
        is_open = any(not self.ways.get(key) for key in keys)
        return list(dict.fromkeys(self.untried)) if is_open else []

    @staticmethod
    def key(record: NodeRecord) -> Key:
        """Return the key of a kept node."""
        return key_of(record.entry)

    def taken(self) -> set[Key]:
        """Return the nodes that are kept with ``base``, and that a target with limits takes."""
        target = self.whole.settings.target
        if self.violations is None or not target.has_profile:
            return set()
        named = {(violation.op, violation.node) for violation in self.violations}
        entries = (record.entry for record in self.kept)
        return {key_of(entry) for entry in entries if (entry.op, entry.node) not in named}

    def least(self, found: Iterable[Found]) -> list[Found]:
        """Return some changes without those that include another: what asks least comes first."""
        ways = sorted(found, key=lambda w: (w.change.asks, len(w.change.statements)))
        stated = [way.change.statements for way in ways]
        least = [w for w in ways if not any(other < w.change.statements for other in stated)]
        return least[:_WAYS]

    def run(self) -> None:
        """Try ``base``, each change that the reasons with it suggest, and then some together."""
        with budget().share(_ALONE):
            result = self._with_base()
            if result is None:
                return
            if not self.base.fix and (needs := needs_at(self.whole, {})):
                self.suggested.append((Change(needs=needs), self.unsolved()))
            self._follow(self.base, result)
            most = _CHANGES + (not self.base.statements)
            possible = self._try_suggested(self.waiting | self.refused.keys(), most)
        # All that ask for nothing, at once: for nodes of which one change says nothing new.
        free = [c for c in possible if not c.asks and not c.opset and "dense_limit" not in c.keys]
        if len(free) > 1:
            self.suggested.append((replace(reduce(or_, free), is_last=True), self.unsolved()))
        with budget().share(_OPEN):
            for _ in range(_DEPTH):
                if left := self.unsolved():
                    self._try_suggested(left, _CHANGES + _TOGETHER)

    def unsolved(self) -> set[Key]:
        """Return the nodes that no tried change removes, without those that the target takes."""
        return (self.waiting | self.refused.keys()) - self.ways.keys() - self.taken()

    def _try_suggested(self, nodes: Collection[Key], most: int) -> list[Change]:
        """Try the suggested changes for some nodes, one by one; return those that are possible.

        ``most`` is how many may have been tried then.
        """
        suggested, self.suggested, self._followed = self.suggested, [], 0
        possible = []
        for change, suggesting in sorted(suggested, key=lambda pair: pair[0].is_last):
            wanted = set(nodes)
            if suggesting.isdisjoint(wanted):
                continue
            if change.at_numbers and not wanted <= self.ways.keys():
                if not self.whole.affords_numbers:
                    self.untried.append(f"{change} --fix ...".strip())
                    continue
                change = replace(change | (self.numbers or Change()), at_numbers=False)
            wanted -= self._settled(change)
            # If several statements together change nothing, each one alone changes nothing.
            known = change.statements in self.tried or any(
                change.statements <= more for more in self._idle
            )
            if not wanted or known:
                continue
            if len(self.tried) >= most or budget().is_spent:
                self.untried.append(str(change))
                continue
            try:
                result = self.attempt(change)
            except LimitError:
                self.untried.append(str(change))
                continue
            if result is None:
                continue
            possible.append(change)
            if most > _CHANGES + 1:
                change, result = self.reduced(change, result, wanted)
            if not self._helps(change, result, wanted):
                self._idle.append(change.statements)
            elif wanted - self.ways.keys() and self._followed < _FOLLOWED:
                self._followed += 1
                self._follow(change, result)
        return possible

    def _follow(self, change: Change, result: Result) -> None:
        """Let the reasons that nodes have only under a change suggest what to try with it."""
        told, refused = self.later, self.refused
        if change is self.base:
            told, refused = {}, {}
        there = ((key_of(record.entry), record) for record in self.left(result))
        kept = [record for key, record in there if told.get(key) != record.entry.refusal]
        others = result.refused.keys() - refused.keys()
        nodes = {*map(self.key, kept), *others}
        operators = {op for op, _ in others}
        found = candidates(kept, operators, self.whole.model, result.settings)
        self.suggested += [(change | more, nodes) for more in found]

    def reduced(
        self, change: Change, result: Result, wanted: Collection[Key]
    ) -> tuple[Change, Result]:
        """Return a change without the arguments that are not needed for what it removes."""
        removed = self.gone(change, result)[0].keys() & wanted
        for name in change.beyond(self.base) if removed else ():
            without = replace(change, **{name: getattr(self.base, name)})
            if without.statements in self.tried or budget().is_spent:
                continue
            found = self.afforded(without)
            if found is not None and removed <= self.gone(without, found)[0].keys():
                change, result = without, found
        return change, result

    def _with_base(self) -> Result | None:
        """Try ``base``, and note what it leaves; return its result, or None if nothing is."""
        wanted = self.waiting | self.refused.keys()
        if not wanted:
            return None
        result = None
        try:
            result = self.attempt(self.base)
        except LimitError:
            self.untried.append(str(self.base))
        self.refused = result.refused if result and self.refused else {}
        self.violations = result.violations if result else None
        if result is None:
            return None
        self.kept = self.left(result)
        self.later = refusals_of(self.kept)
        self._note(self.base, result, wanted)
        return result

    def _helps(self, change: Change, result: Result, wanted: Collection[Key]) -> bool:
        """Note what a change does; return whether it removes nodes or changes why some are kept."""
        removes = self._note(change, result, wanted)
        refusals = refusals_of(self.left(result))
        for key, refusal in refusals.items() if "dense" in change.keys else ():
            first = self.later.get(key, refusal)
            if isinstance(refusal.detail, Missing) and not isinstance(first.detail, Missing):
                self.lacks.setdefault(key, refusal.detail)
        return removes or refusals != self.later or result.refused != self.refused

    def _settled(self, change: Change) -> set[Key]:
        """Return the nodes that another change removes which asks for less."""
        return {
            key
            for key, ways in self.ways.items()
            for other in (way.change for way in ways)
            if other.statements <= change.statements
            or (change.is_last and (not other.asks or (change.fix and not self.base.fix)))
        }

    def _note(self, change: Change, result: Result, wanted: Collection[Key]) -> bool:
        """Note which of the wanted nodes a change removes; return whether it removes any."""
        gone, too_large = self.gone(change, result)
        removed = gone.keys() & wanted
        for ways, found, keys in (
            (self.ways, gone, removed),
            (self.too_large, too_large, too_large.keys() & wanted),
        ):
            for key in keys:
                ways.setdefault(key, []).append(found[key])
        return bool(removed)

    def gone(self, change: Change, result: Result) -> tuple[dict[Key, Found], dict[Key, Found]]:
        """Return the nodes that a change removes, and those that it removes at too high a price."""
        gone: dict[Key, Found] = {}
        too_large: dict[Key, Found] = {}
        if result.refused.keys() <= self.refused.keys():  # the change adds no refused nodes
            gone = dict.fromkeys(self.refused.keys() - result.refused.keys(), Found(change))
        most = limit_of(self.whole.settings.target)
        added = {op for op, _ in result.refused} - {op for op, _ in self.refused}
        for record in (record for record in result.records if record.entry.is_gone):
            if added.intersection(record.entry.written):  # the target lacks it, but refuses less
                continue
            key, price = key_of(record.entry), Price.of(record)
            is_small = price is None or price.number <= most
            (gone if is_small else too_large)[key] = Found(change, record.entry.rules, price)
        self.removed[change.statements] = gone
        return gone, too_large
