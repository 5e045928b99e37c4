"""Explain: what each scatter or gather of a model is, what is known of it, what is done with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.api import AnyModel, inspect_accounts
from onnx_scatterx.canonical import Canonical
from onnx_scatterx.clauses import Assume
from onnx_scatterx.components import normal_picks
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.explanation_terms import Wording, component_text, shape_text
from onnx_scatterx.footprint_text import box_text
from onnx_scatterx.lift import Access
from onnx_scatterx.picks import Pick
from onnx_scatterx.reasons import Reason, Refusal
from onnx_scatterx.report_entries import Action, GatherReport, ScatterReport
from onnx_scatterx.reporting import Account
from onnx_scatterx.settings import Settings
from onnx_scatterx.targets import AnyTarget

_BOXES = 8  # that are listed
_FACTS = 6
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
) -> str:
    """Return in words what each scatter of a model is, or the one of this name.

    That is: its shapes, its transformer as ``J = p(f(p1(I)) ++ p2(I))`` (Definition 10), the
    verdict with its witness, the region that it writes, whether updates collide, what all this
    rests on, and what is done with it or which proof is missing. The arguments are those of
    ``optimize``; where ``reads`` are asked for, or the name is that of a gather, the same is said
    of what is read. Raises ScatterXError where the model has no scatter or gather of that name.

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
      verdict   sliceable: the last dims of updates move as they are to the last axes of data, and
                decide nothing else (Definition 8)
      writes    box [1, :]
      unique    proven: no two updates go to one element
      answer    goes, written as ...
    """
    settings = Settings.of(target, None, distrust_dims, assume, deterministic, reads=reads)
    report, accounts = inspect_accounts(model, settings)
    if node is not None and not reads and all(node != a.entry.node for a in accounts):
        _, accounts = inspect_accounts(model, replace(settings, reads=True))
    if node is not None:
        accounts = _named(accounts, node)
    if not accounts:
        return report.summary()
    return "\n\n".join(_explained(account) for account in accounts)


def _named(accounts: Sequence[Account], name: str) -> tuple[Account, ...]:
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


def _explained(account: Account) -> str:
    entry = account.entry
    reduction = ""
    if isinstance(entry, ScatterReport) and entry.reduction != "none":
        reduction = f", reduction {entry.reduction}"
    lines = [f"{entry.node}: {entry.op} in graph {entry.graph}{reduction}"]
    for label, sentences in _parts(account):
        for i, sentence in enumerate(sentences):
            lines += _wrapped(label if i == 0 else "", sentence)
    return "\n".join(lines)


def _parts(account: Account) -> Iterator[tuple[str, Sequence[str]]]:
    entry, canonical = account.entry, account.canonical
    if canonical is None:
        yield from _inputs(account)
    else:
        access, wording = canonical.access, Wording(canonical.access)
        dtype = access.dtype.name.lower()
        names = dict(zip(_roles(account.node), account.inputs, strict=False))
        names["output"] = account.output
        yield "data", [f"{names['data']}, {dtype}{shape_text(access.data_shape)}"]
        yield access.other, [f"{names[access.other]}, {dtype}{shape_text(access.shape)}"]
        yield "equation", [*_equation(canonical, wording), *wording.tables()]
        yield "where", wording.legend()
        yield "verdict", [_in_words_of(access, line) for line in _verdict(canonical)]
        yield _touches(entry), list(_footprint(canonical, entry))
        if isinstance(entry, ScatterReport):
            yield "unique", list(_unique(entry))
        yield "known", list(_known(access, wording))
    yield "assumed", entry.facts
    yield "answer", list(_answer(account))


def _touches(entry: ScatterReport | GatherReport) -> str:
    return "writes" if isinstance(entry, ScatterReport) else "reads"


def _in_words_of(access: Access, text: str) -> str:
    """Return a sentence of the theory, which speaks of updates, about a gather's output."""
    if access.other == "updates":
        return text
    return text.replace("of updates", f"of the {access.other}").replace("updates", "elements")


def _roles(node: ir.Node) -> tuple[str, ...]:
    """Return what the inputs of a scatter or gather are."""
    if node.op_type == "TensorScatter":
        return "data", "updates", "indices"
    return "data", "indices", "updates"


def _inputs(account: Account) -> Iterator[tuple[str, Sequence[str]]]:
    """Say what is known of the inputs of a node that could not be lifted."""
    inputs = zip(_roles(account.node), account.inputs, account.node.inputs, strict=False)
    for role, called, value in inputs:
        if value is None:
            continue
        found = account.scope.values.get(value)
        dtype = (found and found.dtype) or value.dtype
        name = "unknown type" if dtype is None else dtype.name.lower()
        shape = ", unknown rank"
        if found is not None and found.shape is not None:
            shape = shape_text(found.shape)
        yield role, [f"{called}, {name}{shape}"]


def _equation(canonical: Canonical, wording: Wording) -> Iterator[str]:
    p1, p2, p = normal_picks(canonical.components)
    picks = f"p1 = {_pick(p1)}, p2 = {_pick(p2)}, p = {_pick(p)}"
    yield f"J = p(f(p1(I)) ++ p2(I)), {picks}"
    columns = len(p) - len(p2)
    for axis, t in enumerate(canonical.components):
        origin = "f" if p[axis] < columns else "p2"
        sign = ", counted from the end where negative" if canonical.may_wrap(axis) else ""
        yield f"J_{axis} = {component_text(t, wording)}, from {origin}{sign}"


def _pick(pick: Pick) -> str:
    return f"({', '.join(map(str, pick))})"


def _verdict(canonical: Canonical) -> Iterator[str]:
    verdict = canonical.verdict
    yield f"{verdict.sliceability.value}: {verdict.sliceability.text}"
    for obstacle in verdict.witness:
        yield f"- {obstacle}"


def _footprint(canonical: Canonical, entry: ScatterReport | GatherReport) -> Iterator[str]:
    if isinstance(canonical.boxes, Refusal):
        yield "unknown" if canonical.boxes == entry.refusal else f"unknown: {canonical.boxes}"
        return
    yield entry.footprint
    if len(canonical.boxes) > 1:
        for piece in canonical.boxes[:_BOXES]:
            yield f"- [{', '.join(box_text(piece, canonical.access))}]"
        if len(canonical.boxes) > _BOXES:
            yield f"- and {len(canonical.boxes) - _BOXES} more"


def _unique(entry: ScatterReport) -> Iterator[str]:
    if entry.unique == "proven":
        yield "proven: no two updates go to one element"
    elif entry.duplicates is None:
        yield {"collides": "no: ", "unknown": "unknown: "}[entry.unique] + (
            "two updates go to one element, and both are taken"
            if entry.unique == "collides"
            else "two updates may go to one element, and both are taken"
        )
    if entry.duplicates is not None:
        word = {"proven": "made so: ", "collides": "no: ", "unknown": "unknown: "}[entry.unique]
        yield word + str(entry.duplicates)


def _known(access: Access, wording: Wording) -> Iterator[str]:
    """Yield what nodes of the model have checked before, as far as it is about this one."""
    known = [f for f in access.facts.known() if f.leaves() and f.leaves() <= wording.leaves]
    facts = [f for f in known if not access.facts.is_assumed(f)]
    for fact in facts[:_FACTS]:
        yield f"{wording.text(fact)} >= 0, which the model checks when it runs"


def _answer(account: Account) -> Iterator[str]:
    entry = account.entry
    if entry.action is Action.DEAD:
        yield "goes, as nothing reads it"
    elif entry.refusal is None:
        yield f"goes, written as {', '.join(entry.forms) or 'nothing'}"
    else:
        word = "becomes ScatterX" if entry.action is Action.NATIVE else "stays"
        yield f"{word}: {entry.refusal}"
        missing = MISSING.get(entry.refusal.reason)
        if missing is not None:
            yield f"missing: {missing}"


MISSING = {
    Reason.UNKNOWN_RANK: "the rank of every input; declare the shapes of the graph inputs",
    Reason.UNKNOWN_TYPE: "the element type; declare the types of the graph inputs",
    Reason.UNKNOWN_ATTRIBUTE: "one value of the attribute for all callers; inline the function",
    Reason.OLD_OPERATOR: "an operator set that has the operator; convert the model",
    Reason.UNKNOWN_INDICES: "indices that follow from constants and sizes alone",
    Reason.UNKNOWN_SIGN: "a proof that the index is never negative, or always is; "
    "where you know it of an input, --assume 'NAME: nonnegative' says it",
    Reason.UNKNOWN_BOUNDS: "a proof that the positions lie within the data at every size",
    Reason.MAY_COLLIDE: "a proof that no two updates go to one element",
    Reason.NO_CUT: "a proof of the order of the written regions at every size",
    Reason.UNKNOWN_SIZE: "a tensor of the model from whose shape the size can be read",
    Reason.NO_RULE: "a rule for this form; optimize(rules=...) takes rules of your own",
}
"""What would have to be known, for the reasons that more knowledge would do away with."""


def _wrapped(label: str, text: str) -> list[str]:
    """Return a labelled sentence in lines of bearable width; names are never cut."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > 100 - _INDENT:
            lines.append(line)
            line = "  " + word if text.startswith("- ") else word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    first = f"  {label:<{_INDENT - 2}}{lines[0]}"
    return [first, *(" " * _INDENT + rest for rest in lines[1:])]


__all__ = ["MISSING", "explain"]
