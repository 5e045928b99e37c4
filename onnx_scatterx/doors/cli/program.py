"""The command line: parses the arguments, runs one command, and returns the exit status.

Exit status: 0 done, 1 a check failed, 2 could not run (one line on stderr says why), 3 not proven.
Heavy libraries are imported inside the commands, so that ``--help`` answers at once.

To complete a word, the shell runs the command with a variable set; only then argcomplete is
imported. `eval "$(register-python-argcomplete onnx-scatterx)"` turns completion on in bash and zsh.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from onnx_scatterx.doors.cli import bench as cli_bench
from onnx_scatterx.doors.cli import check as cli_check
from onnx_scatterx.doors.cli import explain as cli_explain
from onnx_scatterx.doors.cli import extract as cli_extract
from onnx_scatterx.doors.cli import inspect as cli_inspect
from onnx_scatterx.doors.cli import optimize as cli_optimize
from onnx_scatterx.doors.cli import run as cli_run
from onnx_scatterx.doors.cli import target as cli_target
from onnx_scatterx.doors.cli import targets as cli_targets
from onnx_scatterx.doors.cli import verify as cli_verify
from onnx_scatterx.doors.cli.help_text import Help, overview
from onnx_scatterx.doors.cli.output import (
    DONE,
    FAILED,
    SIGNAL,
    end_line,
    print_error,
    quiet_libraries,
    report_bug,
    show,
)
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import recorded
from onnx_scatterx.processes import Stopped, stoppable


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end the process. Without argcomplete, do nothing."""
    try:
        import argcomplete
        from argcomplete.completers import FilesCompleter
    except ImportError:
        return
    models, profiles = FilesCompleter(["onnx", "onnxtxt"]), FilesCompleter(["toml"])
    targets = _from("targets.catalogue", lambda m: [t.name for t in m.all_targets()])
    vendors = _from("targets.catalogue", lambda m: m.VENDORS)
    passes = _from("pipeline.order", lambda m: [step.name for step in m.PIPELINE])
    consumers = _from("lab.devices.consumer", lambda m: m.consumer_names())
    known = {
        "target": lambda prefix, **_: [
            *(*targets(), *profiles(prefix)),
            *(prefix + v[len(prefix) :] for v in vendors() if v.startswith(prefix.lower())),
        ],
        **dict.fromkeys(("model", "models", "like"), models),
        **dict.fromkeys(("passes", "print_after"), passes),
        **dict.fromkeys(("consumers", "check_with"), consumers),
        "name": targets,
        "rules": _from("rewrites", lambda m: [rule.name for rule in m.RULES]),
        "node": _nodes,
    }
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.dest in known:
                action.completer = known[action.dest]
    argcomplete.autocomplete(parser, always_complete_options=False)


def _from(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[..., Iterable[str]]:
    """Return a completer with names from a module, which is imported only if the shell asks."""
    return lambda **_: names(import_module(f"onnx_scatterx.{module}"))


def _nodes(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Return the names of the scatters and gathers of the model that was typed."""
    from onnx_scatterx.files import load
    from onnx_scatterx.graphs import all_nodes

    try:
        nodes = all_nodes(load(parsed_args.model))
    except (ScatterXError, OSError):
        return []
    matching = [n for n in nodes if "Scatter" in n.op_type or "Gather" in n.op_type]
    return [str(node.name or node.outputs[0].name) for node in matching]


_MORE = """is it right?
  optimize            each rewrite follows by a proof from the model alone
  verify A B          does any bit differ? runs both models on drawn inputs
  verify A B --prove  are they the same for every input? asks a solver, too
  check IN            does a device's compiler compute what ONNX Runtime does?

start with:
  onnx-scatterx inspect model.onnx --target CHIP
options: onnx-scatterx COMMAND --help, or --help all; onnx-scatterx --version
exit status: 0 done, 1 a check failed, 2 could not run, 3 not proven"""


class _Told(NamedTuple):
    """What the help says of a command, an example, and the options of the short help."""

    text: str
    example: str
    first: str


_NODE = "model.onnx node_ScatterND_67"
_COMMANDS: dict[Any, _Told] = {
    cli_optimize: _Told(
        "write a model without its scatters",
        "model.onnx -o new.onnx --verify",
        "--output --target --fix --verify --strict --report --verbose",
    ),
    cli_inspect: _Told(
        "list the scatters, and what optimize would do with each",
        "model.onnx",
        "--target --fix --assume --strict --as-is --json --verbose",
    ),
    cli_explain: _Told(
        "explain what is done with a scatter, or why it is kept",
        _NODE,
        "--target --fix --assume --theory --where",
    ),
    cli_target: _Told(
        "write the profile of a chip that is not listed",
        "new npu --operators Add,Concat",
        "--operators --like --json",
    ),
    cli_targets: _Told("list the targets, or say what one of them takes", "qnn", "--json"),
    cli_verify: _Told(
        "run two models, and compare their outputs bit for bit",
        "model.onnx new.onnx",
        "--input --rtol --atol --samples --prove",
    ),
    cli_check: _Told(
        "run a model with compilers of devices; compare with ONNX Runtime",
        "model.onnx --with opencv",
        "--with --python --input --json",
    ),
    cli_run: _Told(
        "run a model, and print or save its outputs",
        "model.onnx --output outputs.npz",
        "--input --output --size --json",
    ),
    cli_bench: _Told(
        "time models in turns, and compare their speed",
        "model.onnx --target standard",
        "--target --input --size --threads --rounds",
    ),
    cli_extract: _Told(
        "cut out what one scatter needs, without weights",
        f"{_NODE} -o part.onnx",
        "--output --target --fix",
    ),
}
"""The commands in the order of ``--help``; ``first`` are the options before ``--help all``."""

_BROKEN_PIPE = 141  # the status of a process that SIGPIPE ended, as a shell reports it


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    A signal that ends a program does what Ctrl-C does. The status is then 128 plus its number.
    """
    with stoppable(), recorded():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    try:
        parser = _parser()
        if "_ARGCOMPLETE" in os.environ:
            complete(parser)
        args, unknown = parser.parse_known_args(argv)
        if unknown:
            args.parser.refuse_unknown(unknown)
        if "run" not in args:
            args.parser.print_help()
            return DONE
        with quiet_libraries(errors_only=getattr(args, "quiet", False)):
            status = int(args.run(args))
        if sys.stdout is not None:  # None if a shell has closed it
            sys.stdout.flush()
    except SystemExit as stop:  # of argparse
        return stop.code if isinstance(stop.code, int) else DONE
    except Stopped as stop:
        return print_error(f"ended by {stop}", SIGNAL + stop.number)
    except KeyboardInterrupt:
        end_line()  # the line in which a terminal shows ^C
        return print_error("interrupted", SIGNAL + signal.SIGINT)
    except BrokenPipeError:
        # The reader of the pipe is gone, and the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except ScatterXError as error:
        return print_error(error, FAILED)
    except MemoryError as error:
        return print_error(f"not enough memory: {error}", FAILED)
    except OSError as error:
        return print_error(f"{error.filename or 'error'}: {error.strerror or error}", FAILED)
    except Exception as error:  # a bug must not end with status 1, which is an answer
        if isinstance(error, ImportError) and _is_of_others(error.name):
            return print_error(f"{error}: install it, or onnx-scatterx again, with pip", FAILED)
        return report_bug(error, FAILED)
    return status


def _is_of_others(module: str | None) -> bool:
    return module is not None and module.split(".")[0] != "onnx_scatterx"


def _parser() -> Parser:
    parser = Parser(
        prog="onnx-scatterx",
        description="onnx-scatterx removes scatters from ONNX models, proven to stay the same",
    )
    parser.add_argument("--version", action=Version, help="print the version and exit")
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    for module, told in _COMMANDS.items():
        name = module.__name__.rpartition(".")[2]
        made: Parser = commands.add_parser(
            name, help=told.text, description=told.text, add_help=False
        )
        example = f"onnx-scatterx {name} {told.example}"
        more: dict[str, Any] = {"first": told.first.split(), "example": example}
        made.add_argument("-h", "--help", action=Help, **more)
        module.add_arguments(made)
        made.set_defaults(run=module.run, parser=made)
    for made in (parser, *commands.choices.values()):
        made.commands = commands.choices
    return parser


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    commands: Mapping[str, Parser] = {}
    """The parsers of all commands, by their names."""

    def format_help(self) -> str:
        """Return the help of the program; ``Help`` prints that of a command."""
        (commands,) = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        return f"{overview(self, commands._choices_actions, _MORE)}\n"

    def error(self, message: str) -> NoReturn:
        """Print the error and end with status 2."""
        _, is_required, missing = message.partition("the following arguments are required: ")
        if is_required and missing.startswith("-"):
            (example,) = (action.example for action in self._actions if isinstance(action, Help))
            message = f"{missing.partition('/')[0]} is missing; for example: {example}"
        message = message.replace("ignored explicit argument", "it takes no value")
        if message.startswith("argument --strict: it takes no value"):
            *_, value = message.rpartition(" ")
            message = f"there is --strict, --strict=native and --strict=taken, not {value}"
        raise SystemExit(print_error(f"{message} (see {self.prog} --help)", 2))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error with the nearest choice, instead of argparse's list of all choices."""
        if action.choices is not None and value not in action.choices:
            what = "command" if action.metavar == "COMMAND" else "choice"
            known = [str(choice) for choice in action.choices]
            near = did_you_mean(str(value), known) or f"; there is {', '.join(known)}"
            raise argparse.ArgumentError(None, f"no {what} is called {value!r}{near}")

    def refuse_unknown(self, unknown: Sequence[str]) -> NoReturn:
        """End with an error that names the unknown arguments, and the option that may be meant."""
        first = next((word for word in unknown if word.startswith("-")), unknown[0])
        if f"--strict={first}" in self._option_string_actions:
            self.error(f"write --strict={first}, with = before its value")
        flag = first.partition("=")[0]
        if others := [n for n, p in self.commands.items() if flag in p._option_string_actions]:
            own = self.prog.rpartition(" ")[2]
            self.error(f"{flag} is an option of {', '.join(others)}, not of {own}")
        known = [name for name in self._option_string_actions if name.startswith("--")]
        near = did_you_mean(flag, known)
        if "--fix" in known and re.fullmatch(r"[^-].*=\d+", unknown[0]):
            near = "; write --fix before each size"
        self.error(f"unrecognized arguments: {' '.join(unknown)}{near}")


class Version(argparse.Action):
    """Print the version of the package that is installed, and why it has no library; end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import onnx_scatterx
        from onnx_scatterx.runtime import missing_library

        show(getattr(onnx_scatterx, "__version__", "not installed: run from its source"))
        try:
            missing = missing_library()
        except ScatterXError as error:
            missing = str(error)
        if missing is not None:
            show(missing)
        raise SystemExit(0)
