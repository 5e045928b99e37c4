"""The command line: parse, call the public functions, print.

Exit status: 0 done, 1 the answer is no, 2 could not run (one line on stderr says why). Heavy
libraries are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onnx_scatterx import cli_bench, cli_run
from onnx_scatterx.cli_arguments import (
    Parser,
    Version,
    add_assume,
    add_distrust,
    add_draws,
    add_model,
    add_reads,
    add_strict,
    add_target,
    checks,
    count,
    rule_names,
    settings,
    size,
)
from onnx_scatterx.cli_output import complain, in_whole, progress, report_place, show
from onnx_scatterx.errors import ScatterXError

if TYPE_CHECKING:
    from onnx_scatterx.report import Report
    from onnx_scatterx.verification import Verification

_DONE, _NO, _FAILED = 0, 1, 2
_INTERRUPTED, _BROKEN_PIPE = 130, 141  # as a shell reports SIGINT and SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        args = _parser().parse_args(argv)
        status = int(args.run(args))
        if sys.stdout is not None:  # as it is where a shell has closed it
            sys.stdout.flush()
    except SystemExit as stop:  # of argparse
        return stop.code if isinstance(stop.code, int) else _DONE
    except KeyboardInterrupt:
        return complain("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # Nobody reads on, and the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except ScatterXError as error:
        return complain(error, _FAILED)
    except MemoryError as error:
        return complain(f"not enough memory: {error}", _FAILED)
    except OSError as error:
        return complain(f"{error.filename or 'error'}: {error.strerror or error}", _FAILED)
    except Exception:  # a bug of ours is no answer, which status 1 would be
        traceback.print_exc()
        return complain("this is a bug in onnx-scatterx, please report it", _FAILED)
    return status


def _optimize(args: argparse.Namespace) -> int:
    if os.path.isdir(args.model):
        from onnx_scatterx.cli_many import optimize_directory

        return optimize_directory(args)
    from onnx_scatterx.api import optimize
    from onnx_scatterx.model_save import place_of

    place_of(args.output, args.model)
    report = report_place(args.report, (args.model, args.output))
    result = optimize(
        args.model, rules=args.rules, sizes=dict(args.size), opset=args.opset, **settings(args)
    )
    verification = _verified(args, args.model, result.model) if args.verify else None
    if verification is None or verification.same:
        with in_whole(report, lambda: _report_text(report.suffix, result, verification)):
            result.save(args.output)
    if not args.quiet:
        show(result.report)
        if verification is not None:
            show(verification)
    status = _answer(verification, f"; {args.output} is not written")
    return status or _strictly(args, result.report)


def _strictly(args: argparse.Namespace, report: Report) -> int:
    """Return the status that --strict asks for."""
    if not (args.strict and report.violations):
        return _DONE
    return complain(report.violation_lines()[0].rstrip(":"), _NO)


def _targets(args: argparse.Namespace) -> int:
    from onnx_scatterx.targets import all_targets

    for target in all_targets():
        show(f"{target.name:<10}{target.description}")
        if target.source:
            show(f"{'':<10}{target.source}")
    return _DONE


def _inspect(args: argparse.Namespace) -> int:
    from onnx_scatterx.api import inspect

    report = inspect(args.model, **settings(args))
    show(report.to_json() if args.json else report)
    return _strictly(args, report)


def _explain(args: argparse.Namespace) -> int:
    from onnx_scatterx.explanation import explain

    show(explain(args.model, args.node, **settings(args)))
    return _DONE


def _verify(args: argparse.Namespace) -> int:
    verification = _verified(args, args.before, args.after)
    show(verification)
    return _answer(verification)


def _calibrate(args: argparse.Namespace) -> int:
    from onnx_scatterx.cli_calibrate import calibrate_machine

    return calibrate_machine(args)


def _verified(args: argparse.Namespace, before: Any, after: Any) -> Verification:
    from onnx_scatterx.verification import verify

    with progress("verifying") as tell:
        return verify(before, after, progress=tell, **checks(args))


def _answer(verification: Verification | None, consequence: str = "") -> int:
    """Return the status that a verification asks for, with a line on stderr where it is not 0."""
    if verification is None or verification.same:
        return _DONE
    if verification.conclusive:
        return complain(f"the models differ{consequence}", _NO)
    reason = next(iter(verification.rejections), "no input was drawn")
    return complain(
        f"not compared, as the first model ran on no input{consequence}: {reason}", _FAILED
    )


def _report_text(suffix: str, result: Any, verification: Verification | None) -> str:
    write = result.report.to_html if suffix == ".html" else result.report.to_json
    return str(write(verification))


def _parser() -> Parser:
    parser = Parser(
        prog="onnx-scatterx",
        description="Rewrites the scatter nodes of ONNX models to slices, where that is proven.",
        epilog="exit status: 0 done, 1 the answer is no, 2 could not run",
    )
    parser.add_argument("--version", action=Version, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        return made

    optimize = command("optimize", _optimize, "write a model without its scatters")
    add_model(optimize, "an ONNX model, or a directory of models")
    optimize.add_argument("-o", "--output", metavar="OUT", required=True, help="where to write it")
    optimize.add_argument(
        "--jobs", type=count, metavar="N", help="processes for a directory (one per core)"
    )
    add_target(optimize)
    add_reads(optimize, "rewrite gathers too, where slices are no dearer")
    add_strict(optimize)
    optimize.add_argument("--rules", type=rule_names, metavar="A,B", help="use these rules only")
    optimize.add_argument(
        "--opset", type=count, metavar="N", help="raise the model to this operator set first"
    )
    optimize.add_argument(
        "--size",
        type=size,
        action="append",
        default=[],
        metavar="S=N",
        help="a symbolic size is usually N: what ort-cpu weighs plans by",
    )
    optimize.add_argument(
        "--verify", action="store_true", help="run both models first, and write only if they agree"
    )
    add_draws(optimize)
    optimize.add_argument("--report", metavar="R", help="write a report too, .json or .html")
    optimize.add_argument("-q", "--quiet", action="store_true", help="print errors only")

    inspect = command("inspect", _inspect, "list the scatters, and what would be done with them")
    add_model(inspect)
    add_target(inspect)
    add_reads(inspect, "list the gathers too")
    add_strict(inspect)
    inspect.add_argument("--json", action="store_true", help="print JSON")

    explain = command("explain", _explain, "say what the scatters are, and which proof is missing")
    add_model(explain)
    explain.add_argument("node", metavar="NODE", nargs="?", help="one scatter or gather")
    add_target(explain)
    add_reads(explain, "explain all gathers too")

    bench = command("bench", cli_bench.run, "time models against each other, in turns")
    cli_bench.add_arguments(bench)
    cli_run.add_arguments(command("run", cli_run.run, "run a model, print and save its outputs"))

    verify = command("verify", _verify, "run two models and compare them bit for bit")
    verify.add_argument("before", metavar="A", help="the original")
    verify.add_argument("after", metavar="B", help="what it became")
    add_draws(verify)
    add_assume(verify)
    add_distrust(verify)

    calibrate = command("calibrate", _calibrate, "measure this machine for the target ort-cpu")
    calibrate.add_argument("-o", "--output", metavar="OUT", help="a file other than the usual one")
    calibrate.add_argument(
        "--threads", type=count, default=1, metavar="N", help="of ONNX Runtime for one node (1)"
    )

    command("targets", _targets, "list the targets, and where it is written what they have")
    return parser


if __name__ == "__main__":
    sys.exit(main())
