"""Explain: what each scatter or gather of a model is, what is known of it, what is done with it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from onnx_scatterx.api import inspect_accounts, loaded_ir
from onnx_scatterx.assumptions.clauses import Assume, Clause
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.given import AnyModel
from onnx_scatterx.pipeline import tried
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.entries import Entry, ScatterReport
from onnx_scatterx.reports.next_steps import Further, key_of, steps
from onnx_scatterx.reports.sections import parts
from onnx_scatterx.settings import Settings
from onnx_scatterx.symbolic.symbol_ids import foreign_symbols
from onnx_scatterx.system.observer import Observer, Progress
from onnx_scatterx.targets.catalogue import AnyTarget
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.visible import in_lines, visible

_NAMES = 5
_INDENT = 12


def explain(
    model: AnyModel,
    node: str | None = None,
    *,
    target: AnyTarget = "scatterx",
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
    progress: Progress | None = None,
    width: int = 100,
) -> str:
    """Return in words what each scatter of a model is, or the one of this name.

    That is: its shapes, its transformer as ``J = p(f(p1(I)) ++ p2(I))`` (Definition 10), the
    verdict with its witness, the region that it writes, whether updates collide, what all this
    rests on, what is done with it or which proof is missing, and with which other arguments it
    would go: those are tried, so a scatter that stays takes more time.

    Args:
        model: as ``optimize`` takes it.
        node: the name of a scatter or a gather, or that of its output if it has none.
        target: as for ``optimize``, and so are the next ones.
        distrust_dims: as for ``optimize``.
        reads: explain all gathers, too.
        assume: as for ``optimize``.
        deterministic: as for ``optimize``.
        progress: is told how far this is, as by ``optimize``.
        width: how many letters a line has at most, unless a name is longer.

    Returns:
        A paragraph for each scatter, or one sentence where the model has none.

    Raises:
        ScatterXError: the model has no scatter or gather of that name, and as ``optimize``.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> print(explain(model))  # doctest: +ELLIPSIS
        z: ScatterND in graph row
          data      x, float[4, 2]
          updates   y, float[1, 2]
          equation  J = p(f(p1(I)) ++ p2(I)), p1 = (), p2 = (1), p = (0, 1)
                    J_0 = 1, from f
                    J_1 = I_1, from p2
          verdict   sliceable: the last dims of updates move as they are to the last axes of
                    data, and decide nothing else (Definition 8)
          writes    box [1, :]
          unique    proven: no two updates go to one element
          answer    goes, written by Concat, Slice (rules: concat, view)

    """
    told = {"distrust_dims": distrust_dims, "reads": reads, "deterministic": deterministic}
    found = explanations(model, node, target=target, assume=assume, progress=progress, **told)
    return "\n\n".join(e.text(width) for e in found) if found else _none(reads)


@dataclass(frozen=True)
class Explanation:
    """What is said of one scatter or gather: parts, each a label and sentences."""

    entry: Entry
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def text(self, width: int = 100) -> str:
        """Return it in lines of at most so many letters, unless a name is longer."""
        entry = self.entry
        reduction = ""
        if isinstance(entry, ScatterReport) and entry.reduction != "none":
            reduction = f", reduction {entry.reduction}"
        lines = [f"{entry.node}: {entry.op} in graph {entry.graph}{reduction}"]
        for label, sentences in self.parts:
            for i, sentence in enumerate(sentences):
                lines += _wrapped(label if i == 0 else "", sentence, width)
        return in_lines(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: the entry of the report, and the sentences by their labels."""
        return {**self.entry.to_dict(), "parts": {label: list(s) for label, s in self.parts if s}}


def _none(reads: bool) -> str:
    return f"no scatter{' and no gather' if reads else ''} in this model"


@foreign_symbols()
def explanations(
    model: AnyModel,
    node: str | None = None,
    *,
    target: AnyTarget = "scatterx",
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
    progress: Progress | None = None,
) -> list[Explanation]:
    """Return what `explain` says, in parts; its arguments are the same."""
    observer = Observer(progress)
    settings = Settings.of(target, None, distrust_dims, assume, deterministic, reads=reads)
    loaded = loaded_ir(model, observer)
    _, accounts = inspect_accounts(loaded, settings, observer)
    if node is not None and not reads and all(node != a.entry.node for a in accounts):
        settings = replace(settings, reads=True)
        _, accounts = inspect_accounts(loaded, settings)
    if node is not None:
        accounts = _named(accounts, node)
    if not accounts:
        return []

    def rewrite(other: Target, assumed: Sequence[Clause], settled: bool) -> list[Entry]:
        changed = Settings.of(other, None, distrust_dims, None, settled, reads=settings.reads)
        clauses = dict.fromkeys((*settings.assumed, *assumed))
        try:
            return [a.entry for a in tried(loaded, replace(changed, assumed=tuple(clauses)))]
        except ScatterXError:  # it contradicts what the user says
            return []

    observer.stage("trying what would help")
    further = steps(accounts, settings.target, deterministic, rewrite)
    return [_explained(account, further) for account in accounts]


def _named(accounts: Sequence[NodeRecord], name: str) -> tuple[NodeRecord, ...]:
    """Return the scatters and gathers of a name; several graphs may use one."""
    found = tuple(a for a in accounts if name == a.entry.node)
    if found:
        return found
    names = list(dict.fromkeys(a.entry.node for a in accounts))
    if not names:
        raise ScatterXError(f"no scatter or gather is called {name!r}: the model has none")
    near = difflib.get_close_matches(name, names, _NAMES, 0.5) or names[:_NAMES]
    more = ", ..." if len(near) < len(names) else ""
    raise ScatterXError(
        f"no scatter or gather is called {name!r}; there is {', '.join(near)}{more}"
    )


def _explained(account: NodeRecord, further: Further) -> Explanation:
    said = (*parts(account), ("next", further.get(key_of(account.entry), ())))
    return Explanation(account.entry, tuple((label, tuple(text)) for label, text in said))


def _wrapped(label: str, text: str, width: int) -> list[str]:
    """Return a labelled sentence in lines of bearable width; names are never cut."""
    lines, line = [], ""
    for word in visible(text).split(" "):
        if line and len(line) + 1 + len(word) > width - _INDENT:
            lines.append(line)
            line = "  " + word if text.startswith("- ") else word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    first = f"  {label:<{_INDENT - 2}}{lines[0]}"
    return [first, *(" " * _INDENT + rest for rest in lines[1:])]
