"""Settings: what the arguments of the public functions say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from onnx_scatterx.assumptions.clauses import Assume, Clause, clauses
from onnx_scatterx.assumptions.fixed_sizes import Fix
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.lowering.rule import Rule
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.rewrites.overlay import overlay
from onnx_scatterx.rewrites.scatterx import scatterx
from onnx_scatterx.targets.catalogue import AnyTarget, target_of
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.nearest import did_you_mean

Rules: TypeAlias = "Sequence[str | Rule]"


def chosen_rules(rules: Rules | None) -> tuple[Rule, ...]:
    """Return rules by name or by themselves, in order; None means all that there are.

    >>> [rule.name for rule in chosen_rules(["view", "concat"])]
    ['view', 'concat']
    """
    if rules is None:
        return RULES
    by_name = {rule.name: rule for rule in RULES}
    found: list[Rule] = []
    for rule in rules:
        if isinstance(rule, Rule):
            found.append(rule)
        elif rule in by_name:
            found.append(by_name[rule])
        else:
            near = did_you_mean(rule, by_name) or f"; there are {', '.join(by_name)}"
            raise ScatterXError(f"no rule is called {rule!r}{near}")
    return tuple(found)


def rules_of(target: Target, rules: Sequence[Rule], *, asked: bool) -> tuple[Rule, ...]:
    """Return the rules to apply, given those that there are or that were asked for."""
    kept = [r for r in rules if asked or not (r.is_dense and target.avoids_dense)]
    if not target.has_scatterx:
        return tuple(kept)
    return (*kept, overlay, scatterx) if target.is_timed else (*kept, scatterx)


@dataclass(frozen=True)
class Settings:
    """How to optimize: for which target, with which rules, on which assumptions."""

    target: Target
    rules: tuple[Rule, ...]
    distrust_dims: bool
    assumed: tuple[Clause, ...] = ()
    deterministic: bool = False
    sizes: Mapping[str, int] | None = None
    reads: bool = False
    fix: Fix = None

    @classmethod
    def of(
        cls,
        target: AnyTarget,
        rules: Rules | None,
        distrust_dims: bool,
        assume: Assume,
        deterministic: bool = False,
        *,
        sizes: Mapping[str, int] | None = None,
        reads: bool = False,
        fix: Fix = None,
    ) -> Settings:
        """Return what the arguments of the public functions say, or raise ScatterXError."""
        chosen = target_of(target)
        applied = rules_of(chosen, chosen_rules(rules), asked=rules is not None)
        assumed = clauses(assume)
        return cls(chosen, applied, distrust_dims, assumed, deterministic, sizes, reads, fix)
