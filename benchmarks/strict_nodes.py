"""Compares what a strict exit says of single nodes with what compilers say of them.

    python benchmarks/strict_nodes.py --only tract,opencv --python 'build/{}/bin/python'

The nodes are those of the device probe, taken at even distances: 200, or --count. A node is right
if the consumer computes what ONNX Runtime does, or is close or tied, as ``check`` says. A false
alarm is a right node that ``--strict=taken`` refuses under the consumer's profile. A miss is a node
that is not right, and is not refused. The Casts around a node count only if the profile has none.
In the pattern of --python, {} is the consumer's name. With --record, answers are kept in a file,
and an interrupted run goes on. Fails if no consumer is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

sys.path.append(str(Path(__file__).parents[1]))

import onnx_scatterx
from benchmarks.device_probe.case import Case
from benchmarks.device_probe.table import table_cases
from onnx_scatterx.errors import MissingConsumerError, one_line
from onnx_scatterx.lab.devices.checking import judged
from onnx_scatterx.lab.devices.consumer import (
    Consumer,
    ConsumerProcess,
    consumer_names,
    consumer_of,
)
from onnx_scatterx.targets.catalogue import target_of

BEGIN, END = "<!-- single nodes begin -->", "<!-- single nodes end -->"

RIGHT = ("right", "close", "tied")


@dataclass(frozen=True)
class Node:
    """What a consumer made of a node, and whether its profile refuses the node."""

    name: str
    verdict: str
    refused: bool
    message: str

    @property
    def is_false_alarm(self) -> bool:
        """Whether the consumer is right, and the profile refuses the node."""
        return self.verdict in RIGHT and self.refused

    @property
    def is_miss(self) -> bool:
        """Whether the consumer is not right, and the profile says nothing."""
        return self.verdict not in RIGHT and not self.refused


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of the consumers, and the nodes on which they and their profiles differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", help="these consumers, by name, or adapters (.py)")
    parser.add_argument("--python", help="the interpreter of a consumer, with {} for its name")
    parser.add_argument("--count", type=int, default=200, help="of nodes (200)")
    parser.add_argument("--record", type=Path, help="keep the answers here, and go on from them")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a node (60)")
    args = parser.parse_args(arguments)
    cases = chosen(args.count)
    known: dict[str, list[str]] = {}
    if args.record is not None and args.record.exists():
        known = json.loads(args.record.read_text(encoding="utf-8"))
    found = {}
    for name in args.only.split(",") if args.only else consumer_names():
        consumer = consumer_of(name)
        python = args.python.format(consumer.name) if args.python else None
        try:
            with ConsumerProcess(consumer, python, args.timeout) as process:
                title = f"{consumer.name} {process.version}"
                found[title] = [_asked(consumer, process, c, known, title) for c in cases]
        except MissingConsumerError as error:
            print(error, file=sys.stderr)
        if args.record is not None:
            args.record.write_text(json.dumps(known, indent=1), encoding="utf-8")
    if not found:
        print("no consumer is installed", file=sys.stderr)
        return 2
    text = table(found)
    print(text)
    if args.page is not None:
        page = args.page.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        tail = rest.split(END)[1]
        args.page.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
    return 0


def chosen(count: int) -> list[Case]:
    """Return so many nodes of the probe, at even distances; they are the same in every run."""
    cases = [case for case in table_cases() if not case.operator.startswith("(")]
    return [cases[i * len(cases) // count] for i in range(min(count, len(cases)))]


def _asked(
    consumer: Consumer,
    process: ConsumerProcess,
    case: Case,
    known: dict[str, list[str]],
    title: str,
) -> Node:
    """Give a node to a consumer: with Casts around it, if it is not of floats alone."""
    one = case if case.inside is None else case.inside
    key = f"{title}: {one.name}"
    if key not in known:
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory) / "model.onnx"
            onnx.save(one.model, place)
            found = judged(consumer, process.run(place, one.feeds), one.expected, place)
        known[key] = [found.verdict, "" if found else one_line(found.message, 160)]
    verdict, message = known[key]
    report = onnx_scatterx.inspect(
        one.model, target=consumer.adapter.profile, passes=["CheckTarget"]
    )
    target = target_of(consumer.adapter.profile)
    asked = {case.operator} if target.has("Cast") else {case.operator, "Cast"}
    refused = any(not v.is_taken and v.op in asked for v in report.violations)
    return Node(one.name, verdict, refused, message)


def table(found: dict[str, list[Node]]) -> str:
    """Return a table in Markdown, and a line for each miss."""
    lines = ["| consumer | nodes | right | refused by the profile | false alarms | misses |"]
    lines.append("|---|---|---|---|---|---|")
    for title, nodes in found.items():
        right = sum(n.verdict in RIGHT for n in nodes)
        alarms = [n.name for n in nodes if n.is_false_alarm]
        counts = len(nodes), right, sum(n.refused for n in nodes), len(alarms)
        cells = [title, *map(str, counts), str(sum(n.is_miss for n in nodes))]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for title, nodes in found.items():
        for word, some in (
            ("false alarms", [n.name for n in nodes if n.is_false_alarm]),
            ("misses", [f"{n.name} ({n.verdict})" for n in nodes if n.is_miss]),
        ):
            if some:
                lines.append(f"- {title}, {word}: {'; '.join(some)}")
    return "\n".join(lines).rstrip()


if __name__ == "__main__":
    sys.exit(main())
