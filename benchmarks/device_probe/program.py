"""Finds out which nodes a consumer of ONNX takes: models of one node, each run and compared.

    .ci/probe-device opencv [--python PATH] [--json FILE] [--only OPERATOR] [--cases ours]

It prints a table of the operators (what of them is right, wrong or refused), and the operators and
limits that a profile can say of it, to be read before they are believed. Two runs find the same.
With --json, models that were run before with the same version are not run again.

A case is right if the outputs are those of ONNX Runtime. One of other types than float is run with
Casts around it too, which decides: so it is inside of a model. "inside" is right there only, "ends"
is not right there, though it is with such inputs and outputs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx

from benchmarks.device_probe.case import Case
from benchmarks.device_probe.faults import told
from benchmarks.device_probe.onnx_tests import onnx_cases
from benchmarks.device_probe.table import table_cases
from onnx_scatterx.errors import one_line
from onnx_scatterx.lab.devices.checking import judged
from onnx_scatterx.lab.devices.consumer import Consumer, ConsumerProcess, consumer_of

_NEWEST = 24  # the newest operator set that the oldest onnx knows that this package works with


@dataclass(frozen=True)
class Found:
    """What a consumer made of a case."""

    operator: str
    label: str
    is_ours: bool
    verdict: str
    """right, wrong, refused, inside or ends."""
    message: str = ""
    on_host: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether a model may have it."""
        return self.verdict in ("right", "inside")


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe a consumer, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("consumer", help="its name, or an adapter (.py)")
    parser.add_argument("--python", help="the interpreter that has it")
    parser.add_argument("--json", type=Path, help="keep what was found here, and go on from it")
    parser.add_argument("--again", action="store_true", help="run again what was not right")
    parser.add_argument("--only", help="one operator")
    parser.add_argument("--cases", choices=("all", "ours", "onnx"), default="all")
    parser.add_argument(
        "--faults", nargs="*", type=Path, metavar="MODEL", help="are its faults still there?"
    )
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a case (60)")
    args = parser.parse_args(arguments)
    consumer = consumer_of(args.consumer)
    if args.faults is not None:
        print(*told(consumer, args.faults, args.python), sep="\n")
        return 0
    sources = {"ours": [table_cases], "onnx": [onnx_cases], "all": [table_cases, onnx_cases]}
    cases = itertools.chain.from_iterable(source(args.only) for source in sources[args.cases])
    with ConsumerProcess(consumer, args.python, args.timeout) as process:
        version = process.version
        known = _known(args.json, version)
        if args.again:
            known = {key: one for key, one in known.items() if Found(**one).good}
        found = _probe(consumer, process, cases, known, args.json)
    print(f"# {consumer.name} {version}\n")
    print(table(found))
    print(f"\n```toml\n{profile(found)}\n```")
    return 0


def _known(file: Path | None, version: str) -> dict[str, dict[str, Any]]:
    if file is None or not file.exists():
        return {}
    content = json.loads(file.read_text())
    return dict(content["cases"]) if content["version"] == version else {}


def _probe(
    consumer: Consumer,
    process: ConsumerProcess,
    cases: Iterable[Case],
    known: dict[str, dict[str, Any]],
    file: Path | None,
) -> list[Found]:
    found = []

    def keep() -> None:
        if file is not None:
            file.write_text(json.dumps({"version": process.version, "cases": known}, indent=1))

    with tempfile.TemporaryDirectory() as directory:
        for number, case in enumerate(cases):
            key = f"{case.name} {'ours' if case.is_ours else 'onnx'}"
            key += " both" if case.inside is not None else ""
            if key not in known:
                one = _asked(consumer, process, case, Path(directory) / "model.onnx")
                known[key] = asdict(one)
                if number % 50 == 0:
                    keep()
                    print(f"\r{number}", end="", file=sys.stderr)
            found.append(Found(**known[key]))
    print(file=sys.stderr)
    keep()
    return found


def _asked(consumer: Consumer, process: ConsumerProcess, case: Case, place: Path) -> Found:
    checks = []
    for one in (case, case.inside):
        if one is not None:
            onnx.save(one.model, place)
            answer = process.run(place, one.feeds)
            checks.append(judged(consumer, answer, one.expected, place))
    direct, last = checks[0], checks[-1]
    verdict: str = "right" if last else last.verdict
    if verdict == "no answer":
        verdict = "refused"
    if last and not direct:
        verdict = "inside"
    elif direct and not last:
        verdict = "ends"
    elif "wrong" in (direct.verdict, last.verdict):  # which is worse than a refusal
        verdict = "wrong"
    message = "" if last else one_line(last.message, 400)
    return Found(case.operator, case.label, case.is_ours, verdict, message, tuple(last.on_host))


def table(found: Sequence[Found]) -> str:
    """Return a table in Markdown: for each operator the right uses, and the others."""
    lines = ["| operator | ours | ONNX's tests | on the host | wrong | refused | ends |"]
    lines.append("|---|---|---|---|---|---|---|")
    for operator, group in _groups(found).items():
        ours = [one for one in group if one.is_ours]
        theirs = _tests(group)
        right = f"{sum(one.good for one in ours)}/{len(ours)}" if ours else ""
        tests = f"{sum(theirs.values())}/{len(theirs)}" if theirs else ""
        host = ", ".join(sorted({h for one in group for h in one.on_host}))
        cells = [operator, right, tests, host]
        for verdict in ("wrong", "refused", "ends"):
            failed = [one.label or "plain" for one in ours if one.verdict == verdict]
            if not ours:
                failed = [one.label for one in group if one.verdict == verdict]
            more = "" if len(failed) < 40 else f", and {len(failed) - 40} more"
            cells.append(", ".join(failed[:40]) + more)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def profile(found: Sequence[Found]) -> str:
    """Return the content of a profile: operators that are taken, and limits of each."""
    taken, limits = [], []
    for operator, group in _groups(found).items():
        if operator.startswith("("):
            limits.append(f"# {operator}: {_words(group)}")
            continue
        ours = [one for one in group if one.is_ours]
        theirs = _tests(group)
        plain = ours[0].good if ours and not ours[0].label else None
        if plain is None:
            plain = any(one.good for one in ours) or sum(theirs.values()) * 2 > len(theirs)
        if plain:
            if onnx.defs.get_schema(operator, _NEWEST).domain == "":
                taken.append(operator)
            if not all(one.good for one in ours):
                limits.append(f"# {operator}: not {_words([o for o in ours if not o.good])}")
    lines = ["operators = ["]
    line = "   "
    for name in sorted(taken):
        if len(line) + len(name) + 4 > 100:
            lines.append(line)
            line = "   "
        line += f' "{name}",'
    return "\n".join([*lines, line, "]", *limits])


def _words(group: Sequence[Found]) -> str:
    return ", ".join(f"{one.label or 'plain'} ({one.verdict})" for one in group)


def _groups(found: Sequence[Found]) -> dict[str, list[Found]]:
    groups: dict[str, list[Found]] = {}
    for one in sorted(found, key=lambda one: one.operator):
        groups.setdefault(one.operator, []).append(one)
    return groups


def _tests(group: Sequence[Found]) -> dict[str, bool]:
    """Return whether each of ONNX's tests is right, with constants or without."""
    tests: dict[str, bool] = {}
    for one in group:
        if not one.is_ours:
            name = one.label.removesuffix(" (constants)")
            tests[name] = tests.get(name, False) or one.good
    return tests


if __name__ == "__main__":
    sys.exit(main())
