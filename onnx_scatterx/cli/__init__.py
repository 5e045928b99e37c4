"""The command line: parse, call the public functions, print.

Exit status: 0 done, 1 the answer is no, 2 could not run (one line on stderr says why). Heavy
libraries are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from onnx_scatterx.cli import bench as cli_bench
from onnx_scatterx.cli import optimize as cli_optimize
from onnx_scatterx.cli import run as cli_run
from onnx_scatterx.cli.arguments import (
    Parser,
    Version,
    add_assume,
    add_distrust,
    add_draws,
    add_model,
    add_reads,
    add_strict,
    add_target,
    count,
    settings,
    settle_target,
)
from onnx_scatterx.cli.exit_status import answer, print_hint, strict_status, verified
from onnx_scatterx.cli.output import (
    complain_of_a_bug,
    only_ours,
    print_error,
    show,
    show_text,
    terminal_width,
)
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.system.interrupts import Stopped, stoppable
from onnx_scatterx.system.record import recorded

_DONE, _FAILED = 0, 2
_SIGNAL, _BROKEN_PIPE = 128, 141  # as a shell reports signals, and SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Signals that end a program do what Ctrl-C does; the status is 128 and the signal's number.
    """
    with stoppable(), recorded():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    try:
        args, unknown = _parser().parse_known_args(argv)
        if unknown:
            args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        with only_ours():
            status = int(args.run(args))
        if sys.stdout is not None:  # as it is where a shell has closed it
            sys.stdout.flush()
    except SystemExit as stop:  # of argparse
        return stop.code if isinstance(stop.code, int) else _DONE
    except Stopped as stop:
        return print_error(f"ended by {stop}", _SIGNAL + stop.number)
    except KeyboardInterrupt:
        return print_error("interrupted", _SIGNAL + signal.SIGINT)
    except BrokenPipeError:
        # Nobody reads on, and the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except ScatterXError as error:
        return print_error(error, _FAILED)
    except MemoryError as error:
        return print_error(f"not enough memory: {error}", _FAILED)
    except OSError as error:
        return print_error(f"{error.filename or 'error'}: {error.strerror or error}", _FAILED)
    except Exception as error:  # a bug of ours is no answer, which status 1 would be
        if isinstance(error, ImportError) and _is_of_others(error.name):
            return print_error(f"{error}: install it, or onnx-scatterx again, with pip", _FAILED)
        return complain_of_a_bug(error, _FAILED)
    return status


def _is_of_others(module: str | None) -> bool:
    return module is not None and module.split(".")[0] != "onnx_scatterx"


def _targets(args: argparse.Namespace) -> int:
    from onnx_scatterx.targets.catalogue import all_targets, target_of
    from onnx_scatterx.targets.wording import described

    if args.name is not None:
        show_text(described(target_of(args.name)))
        return _DONE
    for target in all_targets():
        show(f"{target.name:<10}{target.description}")
        if target.source:
            show(f"{'':<10}{target.source}")
    return _DONE


def _inspect(args: argparse.Namespace) -> int:
    from onnx_scatterx.api import inspect

    settle_target(args)
    report = inspect(args.model, **settings(args))
    if args.json:
        show_text(report.to_json())
    else:
        show(report)
        print_hint(args, report)
    return strict_status(args, report)


def _explain(args: argparse.Namespace) -> int:
    from onnx_scatterx.explanation import explain

    show_text(explain(args.model, args.node, width=min(terminal_width(), 100), **settings(args)))
    return _DONE


def _verify(args: argparse.Namespace) -> int:
    verification = verified(args, args.before, args.after)
    show(verification)
    return answer(verification)


def _calibrate(args: argparse.Namespace) -> int:
    from onnx_scatterx.cli.calibrate import calibrate_machine

    return calibrate_machine(args)


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
        made.set_defaults(run=run, parser=made)
        return made

    optimize = command("optimize", cli_optimize.run, "write a model without its scatters")
    cli_optimize.add_arguments(optimize)

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

    targets = command("targets", _targets, "list the targets, or say what one of them takes")
    targets.add_argument("name", metavar="NAME", nargs="?", help="a target, or a profile.toml")
    return parser


if __name__ == "__main__":
    sys.exit(main())
