"""`explain` says what is done with each scatter and why; `advise` says how to remove kept ones."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from onnx_scatterx.engine.budget import LimitError, budget, own_budget, within_limits
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import AnyModel
from onnx_scatterx.observer import NOBODY, Observer, Progress
from onnx_scatterx.options import Options
from onnx_scatterx.tell.advice.advise import Advised, advise_on
from onnx_scatterx.tell.advice.change import Command
from onnx_scatterx.tell.advice.smaller import smaller
from onnx_scatterx.tell.advice.whole import Whole, bounded
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import Action, Entry, ScatterReport
from onnx_scatterx.tell.inquiry import Inquiry
from onnx_scatterx.tell.kept_advice import Advice
from onnx_scatterx.tell.report import Report, may_advise
from onnx_scatterx.tell.reporting import rewritten_under
from onnx_scatterx.tell.sections import parts
from onnx_scatterx.text import in_lines, noted_places, visible

_INDENT = 12


def advise(
    model: AnyModel,
    *,
    command: Command | None = None,
    **options: Unpack[Options],
) -> tuple[Advice, ...]:
    r"""Return advice about kept scatters, and about other nodes that the target does not take.

    Other arguments are tried, one after the other and two together, within a limit. If some
    arguments remove a node, the advice has a command with these arguments. The command begins as
    ``command`` says; without ``command``, it names the model if the model is a path. ``options``
    and the errors are those of ``optimize``.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     twice (float[4] x, float[2] y) => (float[4] z)
    ...     <int64[2, 1] i = {1, 1}> { z = ScatterND(x, i, y) }''')
    >>> for advice in advise(model, target="standard"):
    ...     print(*advice.lines(), sep="\n")
    z is kept: two updates write the same element (dim 0 of the updates)
      removed by:
        onnx-scatterx optimize MODEL.onnx -o OUT.onnx --target standard --deterministic
          the last update wins
    """
    settings = Settings.of(**options)
    if command is None and isinstance(model, str | os.PathLike):
        command = Command(os.fspath(model), target=settings.target.text)
    with Inquiry.about(model, settings) as asked:
        report, records = asked.inspected
        with bounded(asked.model, settings) as whole:
            return _advice(whole, report, records, command).advice


def advised(
    asked: Inquiry, report: Report, records: Sequence[NodeRecord], command: Command
) -> Report:
    r"""Return a report on the model of an inquiry with advice: each command in it was tried.

    If the result is much larger than the model, the advice has commands that give a smaller result,
    too. ``records`` are those of the report.

    >>> import onnx.parser
    >>> body = "".join(f"y{k+1} = ScatterND (y{k}, i, u)  " for k in range(3))
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[64] y0, int64[4, 1] i, float[4] u) => (float[64] z)
    ...     { %s z = Identity (y3) }''' % body)
    >>> with Inquiry.about(model, Settings.of(target="standard")) as asked:
    ...     _, report, records, *_ = asked.optimized(keeps=True)
    ...     (advice,) = advised(asked, report, records, Command(target="standard")).advice
    >>> print(*advice.lines(), sep="\n")
    the result has 15 nodes instead of 4:
      smaller by:
        onnx-scatterx optimize MODEL.onnx -o OUT.onnx
          4 nodes, ONNX Runtime: what does not slice becomes ScatterX, which runs anywhere
    """
    if not may_advise(report):
        return report
    with bounded(asked.model, asked.settings) as whole:
        advice, left = Advised((), None)
        if report.is_open:
            advice, left = _advice(whole, report, records, command, asked.observer)
        advice += smaller(asked, whole, report, command)
        by_standard = _by_standard(whole) if report.native else None
    return replace(report, advice=advice, left=left, by_standard=by_standard)


def _by_standard(whole: Whole) -> int | None:
    """Return how many scatters the target ``standard`` removes; None if the steps end."""
    with suppress(ScatterXError, LimitError):
        whole.charge(whole.model)
        settings = whole.settings.but(target="standard")
        records, _ = rewritten_under(whole.model, settings)
        entries = (record.entry for record in records)
        return sum(isinstance(e, ScatterReport) and e.is_gone for e in entries)
    return None


def _advice(
    whole: Whole,
    report: Report,
    records: Sequence[NodeRecord],
    command: Command | None,
    observer: Observer = NOBODY,
) -> Advised:
    """Return the advice of ``advise``, given a report and its records."""
    if budget().is_spent:  # the steps ended: that is why nodes are kept, and no argument helps
        return Advised((), None)
    return advise_on(whole, records, report.violations, command, observer)


def explain(
    model: AnyModel,
    node: str | None = None,
    *,
    theory: bool = False,
    moves: bool = False,
    where: bool = False,
    command: Command | None = None,
    on_progress: Progress | None = None,
    width: int = 100,
    **options: Unpack[Options],
) -> str:
    """Explain in words what is done with each scatter of a model, or with the named scatter.

    The text has the shapes, the region that the scatter writes, whether updates collide, and the
    assumptions. If the scatter is kept, the text has the reason, and commands that remove the
    scatter. Each command was tried, so a kept scatter takes more time.

    Args:
        model: as ``optimize`` takes it.
        node: the name of a scatter or a gather, or of its output if the node has no name.
        theory: add the x-transformer as ``J = p(f(p1(I)) ++ p2(I))`` (Definition 10), and the
            verdict with its witness.
        moves: add the strided copies that write the same, or the reason why no list of copies does.
        where: add the files of the rules that remove the scatter, or the line of code that refused
            to.
        command: the beginning of the commands in the text.
        on_progress: is called with the progress, as by ``optimize``.
        width: how many letters a line has at most, unless a name is longer.
        **options: those of ``optimize``; with ``gathers`` all gathers are explained, too.

    Returns:
        A paragraph for each scatter, or one sentence if the model contains no scatter.

    Raises:
        ScatterXError: the model contains no scatter or gather of that name; also as ``optimize``.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
        ...     <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }''')
        >>> print(explain(model))
        z: ScatterND in graph row
          answer    removed, written by Concat, Slice (rules: concat, view)
          data      x, float[4, 2]
          updates   y, float[1, 2]
          writes    box [1, :]
          unique    proven: no two updates go to one element
        >>> print(explain(model, theory=True).split("unique")[1])
            proven: no two updates go to one element
          equation  J = p(f(p1(I)) ++ p2(I)), p1 = (), p2 = (1), p = (0, 1)
                    J_0 = 1, from f
                    J_1 = I_1, from p2
          verdict   sliceable: the last dims of updates move as they are to the last axes of
                    data, and no other axis depends on them (Definition 8)

    """
    explained = explanations(
        model,
        node,
        theory=theory,
        moves=moves,
        where=where,
        command=command,
        on_progress=on_progress,
        **options,
    )
    none = "no scatter and no gather" if options.get("gathers") else "no scatter"
    return "\n\n".join(e.text(width) for e in explained) if explained else f"{none} in this model"


@dataclass(frozen=True)
class Explanation:
    """The explanation of one scatter or gather: parts, each a label and sentences."""

    entry: Entry
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def text(self, width: int = 100) -> str:
        """Return the explanation in lines of at most ``width`` letters, unless a name is longer."""
        entry = self.entry
        reduction = ""
        if isinstance(entry, ScatterReport) and entry.reduction != "none":
            reduction = f", reduction {entry.reduction}"
        lines = [f"{entry.node}: {entry.op} in graph {entry.graph}{reduction}"]
        for label, sentences in self.parts:
            for i, sentence in enumerate(sentences):
                shown = label if i == 0 else ""
                if label == "next":  # a command is pasted
                    lines.append(f"  {shown:<{_INDENT - 2}}{visible(sentence)}")
                else:
                    lines += _wrapped(shown, sentence, width)
        return in_lines(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the entry of the report, and the sentences by their labels."""
        return {**self.entry.to_dict(), "parts": {label: list(s) for label, s in self.parts if s}}


def explanations(
    model: AnyModel,
    node: str | None = None,
    *,
    theory: bool = False,
    moves: bool = False,
    where: bool = False,
    command: Command | None = None,
    on_progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[Explanation]:
    """Return an `Explanation` for each paragraph of `explain`; the arguments are the same."""
    settings, observer = Settings.of(**options), Observer(on_progress)
    places = noted_places() if where else nullcontext()
    with places, Inquiry.about(model, settings, observer) as asked:
        records = asked.inspected[1] if node is None else asked.named(node)
        if not records:
            return []
        tried: tuple[Advice, ...] = ()
        if any(record.entry.action is Action.KEPT for record in records):
            with bounded(asked.model, asked.settings) as whole:
                tried, _ = advise_on(whole, records, command=command, observer=observer)
        next_ = {node: advice for advice in tried for node in advice.nodes}
        return [
            _explained(a, next_.get(a.entry.node), theory=theory, copies=moves, where=where)
            for a in records
        ]


def _explained(
    record: NodeRecord, advice: Advice | None, *, theory: bool, copies: bool, where: bool
) -> Explanation:
    described = within_limits(lambda: list(parts(record, theory=theory, copies=copies)))
    with own_budget():  # without the canonical form, no steps go into proofs
        answer, *rest = described or parts(replace(record, in_theory=None), theory=theory)
    code = ("code", _code(record.entry) if where else [])
    sections = (answer, ("next", _next(advice)), *rest, code)
    return Explanation(record.entry, tuple((label, tuple(text)) for label, text in sections))


def _next(advice: Advice | None) -> list[str]:
    """Return the commands; if there are none, first the reason with sizes that were tried."""
    if advice is None:
        return []
    why = [advice.why] if advice.at_sizes and not advice.ways else []
    return [*why, *advice.way_lines()]


def _code(entry: Entry) -> list[str]:
    """Return the line of the refusal, or the files of the rules; a rule of a user by its name."""
    refused = [] if entry.refusal is None else [entry.refusal.place]
    there = Path(__file__).parents[1] / "rewrites"
    files = {rule: f"onnx_scatterx/rewrites/{rule}.py" for rule in entry.rules}
    return refused or [f if (there / f"{rule}.py").is_file() else rule for rule, f in files.items()]


def _wrapped(label: str, text: str, width: int) -> list[str]:
    """Return a labelled sentence in lines of limited width; names are never cut."""
    return textwrap.wrap(
        visible(text),
        width,
        initial_indent=f"  {label:<{_INDENT - 2}}",
        subsequent_indent=" " * (_INDENT + 2 * text.startswith("- ")),
        break_long_words=False,
        break_on_hyphens=False,
    )
