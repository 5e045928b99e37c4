"""The arguments that several commands share: models, options, draws, and how they are read."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_scatterx.doors.cli.once import Once, OneStrict
from onnx_scatterx.doors.cli.values import named_file, natural, thread_count
from onnx_scatterx.errors import ScatterXError, no_such_file
from onnx_scatterx.options import OPTIONS, STRICT, above_zero, count, named_size

if TYPE_CHECKING:
    import numpy as np
    import onnx

    from onnx_scatterx.files import AnyModel, Writing


Arguments: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"
"""An object to which arguments are added: a command, or a group of its help."""


def add(
    command: Arguments, spec: str, text: str, read: Callable[[str], Any] = str, **more: Any
) -> None:
    """Add an option as its help shows it: ``-o --output OUT``, or ``--json`` for a flag.

    ``read`` reads the text after the option; ``more`` are arguments of ``add_argument``.

    >>> command = argparse.ArgumentParser(prog="x", add_help=False)
    >>> add(command, "--jobs N", "processes", int)
    >>> add(command, "--json", "print JSON")
    >>> print(command.format_usage(), command.parse_args(["--json"]))
    usage: x [--jobs N] [--json]
     Namespace(jobs=None, json=True)
    """
    flags = [word for word in spec.split() if word.startswith("-")]
    metavar = " ".join(word for word in spec.split() if word not in flags)
    if metavar:
        more = {"action": Once, **more}
        command.add_argument(*flags, type=read, metavar=metavar, help=text, **more)
    else:
        command.add_argument(*flags, help=text, **{"action": "store_true", **more})


def add_model(command: Arguments, text: str = "an ONNX model") -> None:
    """Add IN."""
    command.add_argument("model", metavar="IN", help=text)


def add_options(command: Arguments, *names: str) -> None:
    """Add the options of ``options.OPTIONS`` with these names; without names, all of them."""
    for o in OPTIONS:
        if not names or o.name in names:
            more = {"default": [], "action": "append"} if o.collect else {"default": o.default}
            add(command, f"{o.flag} {o.metavar}", o.help, o.read or str, **more)


def add_jobs(command: Arguments) -> None:
    """Add --jobs and --timeout."""
    add(
        command,
        "--jobs N",
        "processes for several models (default: one per core); one file is then treated as several",
        count,
    )
    add(command, "--timeout SECONDS", "time limit for each of several models", above_zero)


def add_json(command: Arguments) -> None:
    """Add --json."""
    add(command, "--json", "print JSON")


def add_verbosity(command: Arguments) -> None:
    """Add --verbose, --advice and --no-advice."""
    add(command, "-v --verbose", "print more than one screen")
    advice = command.add_mutually_exclusive_group()
    add(advice, "--advice", "try which options would remove what is kept, also with --json")
    add(advice, "--no-advice", "do not try which options would remove what is kept")


def add_quiet(command: Arguments) -> None:
    """Add --quiet."""
    add(command, "-q --quiet", "print errors only")


def add_strict(command: Arguments, more: str = "") -> None:
    """Add --strict, --strict=native and --strict=taken; ``more`` ends the help of the first."""
    add(
        command,
        "--strict",
        "exit with 1 if the target refuses a part of the result, or runs a scatter on its "
        f"host{more}",
        action=OneStrict,
        nargs=0,
        const=True,
        default=False,
    )
    for value, text in {
        "native": "exit with 1 also for any other node on the target's host (written with =)",
        "taken": "exit with 1 only for what the target refuses (written with =)",
    }.items():
        flag = f"--strict={value}"
        add(command, flag, text, dest="strict", action=OneStrict, nargs=0, const=value)
    add(
        command,
        "--allow FILE",
        "models that may fail --strict: in each line of FILE a path, and after # the reason",
    )


def add_report(command: Arguments) -> None:
    """Add --report."""
    add(
        command,
        "--report R",
        "also write a report: .json, .html, or .md for a pull request; may be given again",
        action="append",
        default=[],
    )


def add_draws(command: Arguments) -> None:
    """Add the options of a comparison: --samples, --strict-zeros, --prove and --effort."""
    add(
        command,
        "--samples N",
        "sets of inputs to compare on (default: 40, or fewer if a run is much work)",
        count,
    )
    add(command, "--strict-zeros", "count another sign of a zero as a difference")
    add_seed(command)
    add(
        command,
        "--prove",
        "prove by a solver that the outputs are the same for every size and input; exit with "
        "3 if the proof is not complete",
    )


def add_seed(command: Arguments) -> None:
    """Add --seed."""
    add(command, "--seed S", "seed of the drawn inputs (default: 0)", natural)


def add_inputs(command: Arguments, otherwise: str = "without this option, they are drawn") -> None:
    """Add --input."""
    add(
        command,
        "--input NAME=FILE",
        "the inputs: a .npy each, a .npz with all, or a directory of .npy files that are "
        f"named after them; {otherwise}",
        named_file,
        action="extend",
        nargs="+",
        default=[],
    )


def input_arguments(args: argparse.Namespace, model: Any) -> dict[str, np.ndarray]:
    """Return the arrays that --input names, for the inputs of a model."""
    from onnx_scatterx.files import load
    from onnx_scatterx.runtime import read_arrays

    return read_arrays(args.input, {v.name for v in load(model).graph.inputs if v.name})


def add_sizes(command: Arguments) -> None:
    """Add --size and --seed, for inputs that are drawn."""
    add(
        command,
        "--size SYMBOL=N",
        "the size of a named dim, for inputs that are drawn",
        named_size,
        action="append",
        default=[],
    )
    add_seed(command)


def add_session(command: Arguments, threads: int) -> None:
    """Add --threads, with this default, and --no-library."""
    default = threads or "all"
    add(
        command,
        "--threads N",
        f"threads for one node (default: {default})",
        thread_count,
        default=threads,
    )
    add(
        command,
        "--no-library",
        "run ScatterX by its fallback functions",
        dest="library",
        action="store_const",
        const=False,
    )


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of ``options.OPTIONS`` that a command has, as keyword arguments."""
    chosen = {option: getattr(args, option.name) for option in OPTIONS if option.name in args}
    return {o.name: o.collect(v) if o.collect is not None else v for o, v in chosen.items()}


def checks(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of ``verify`` that `optimize --verify` takes, too."""
    chosen = {name: getattr(args, name) for name in ("assume", "distrust_dims", "strict_zeros")}
    drawn = {"samples": args.samples, "seed": args.seed or 0}
    return {**chosen, **drawn, "prove": args.prove, "effort": args.effort}


def reject_unused(args: argparse.Namespace, when: str, *options: str) -> None:
    """Raise an error if one of these options was given. ``when`` says why they have no effect."""
    for option in options:
        value = getattr(args, option, None)
        if value is not None and value is not False and value != []:
            raise ScatterXError(f"--{option.replace('_', '-')} has no effect {when}")


def reject_quiet(args: argparse.Namespace) -> None:
    """Raise an error if --quiet was given with an option that only changes what is printed."""
    if args.quiet:
        reject_unused(args, "with --quiet", "verbose")
        if not args.report:
            reject_unused(args, "with --quiet and without --report", "advice")


def read_target(args: argparse.Namespace) -> None:
    """Read the target and the gate; raise an error if an option has no effect with this target."""
    from onnx_scatterx.doors.batch.gate import Gate
    from onnx_scatterx.targets import target_of

    args.target = target = target_of(args.target)
    if "strict" in args and not target.has_profile:
        why = f"for target {target.name}, which takes all operators: name a chip by --target"
        reject_unused(args, why, "strict")
    if "strict" in args:
        if not args.strict:
            reject_unused(args, "without --strict", "allow")
        args.gate = Gate.of(args.strict, target.text, args.allow)
    if not target.is_timed:
        reject_unused(args, f"for target {target.name}, which does not estimate time", "size_hint")


def _strict_word(word: str) -> str:
    """Return how a value of --strict is written, if this word is one; otherwise ""."""
    return f"write --strict={word}, with = before its value" if word in STRICT else ""


STREAM = "-"
"""This name of a file means stdin if a model is read, and stdout if a model is written."""


def add_models(command: argparse.ArgumentParser, text: str) -> None:
    """Add IN, once or more often."""
    command.add_argument("models", metavar="IN", nargs="+", help=text)


def is_one(models: list[str], jobs: int | None) -> bool:
    """Return whether a command is about one model: a file without ``jobs``, or stdin.

    Raises ScatterXError if a file does not exist, or if stdin and a file are named.
    """
    for model in models:
        if model != STREAM and not os.path.exists(model):
            raise ScatterXError(_strict_word(model) or no_such_file(model))
    if len(models) > 1 and STREAM in models:
        raise ScatterXError("-: a model from stdin must be the only model of the command")
    if models == [STREAM]:
        return True
    return len(models) == 1 and jobs is None and not os.path.isdir(models[0])


def paths_of(models: list[str]) -> str | list[Path]:
    """Return the named models and the models in named directories; or one directory as it is."""
    from onnx_scatterx.doors.batch.many import models_in

    if len(models) == 1 and os.path.isdir(models[0]):
        return models[0]
    return [p for m in map(Path, models) for p in (models_in(m) if m.is_dir() else [m])]


def model_argument(model: str) -> str | onnx.ModelProto:
    """Return a path, or for ``-`` the model that is read from stdin."""
    if model != STREAM:
        return model
    if sys.stdin is None or sys.stdin.isatty():
        raise ScatterXError("-: no model comes from stdin: it is closed or a terminal")
    from onnx_scatterx.files import parsed

    return parsed(sys.stdin.buffer.read(), "stdin")


def model_arguments(*models: str) -> list[str | onnx.ModelProto]:
    """Return several models; one of them may come from stdin."""
    if models.count(STREAM) > 1:
        raise ScatterXError("-: only one model can come from stdin")
    return [model_argument(model) for model in models]


class Destination:
    """The output of ``-o``: a file, or stdout. If a model goes to stdout, nothing else does."""

    def __init__(self, output: str) -> None:
        self._output = output
        self.is_stream = output == STREAM
        self.content: bytes | None = None

    def claim(self, writing: Writing) -> None:
        """Claim the file."""
        if not self.is_stream:
            writing.claim(self._output, "the output")

    def write(
        self,
        model: Any,
        writing: Writing,
        source_path: Path | None,
        *,
        outside: bool = False,
        one_file: bool = False,
    ) -> AnyModel:
        """Write a model, and return the written model; ``outside`` puts its weights beside it.

        ``one_file`` puts weights that are beside it into it.
        """
        from onnx_scatterx.files import MESSAGE_LIMIT, as_bytes, stage

        if self.is_stream:
            self.content, written = as_bytes(model, source_path.parent if source_path else None)
            return written
        limit = 0 if outside else MESSAGE_LIMIT
        where: dict[str, Any] = {"source_path": source_path, "message_limit": limit}
        return stage(model, self._output, writing, **where, one_file=one_file).model()


@contextlib.contextmanager
def destination(output: str) -> Iterator[Destination]:
    """Yield the destination of a model; if this is stdout, messages go to stderr meanwhile."""
    made = Destination(output)
    if not made.is_stream:
        yield made
        return
    if sys.stdout is None or sys.stdout.isatty():
        raise ScatterXError("-o -: a model is written to stdout; send it to a file or a pipe")
    stream = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        yield made
    if made.content is not None:
        stream.buffer.write(made.content)
        stream.buffer.flush()
