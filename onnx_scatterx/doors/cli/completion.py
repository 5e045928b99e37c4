"""Words that a shell completes: options by argcomplete, and targets, nodes and other names here.

The shell asks by running the command with a variable set; only then is this imported:
`eval "$(register-python-argcomplete onnx-scatterx)"` turns it on in bash and zsh.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from onnx_scatterx.errors import ScatterXError


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end the process; do nothing without argcomplete."""
    try:
        import argcomplete
        from argcomplete.completers import FilesCompleter
    except ImportError:
        return
    known = {
        "target": _with_files(_targets, FilesCompleter(["toml"])),
        "name": _targets,
        "rules": _rules,
        "passes": _passes,
        "print_after": _passes,
        "consumers": _consumers,
        "check_with": _consumers,
        "node": _nodes,
        "model": (models := FilesCompleter(["onnx", "onnxtxt"])),
        "models": models,
        "like": models,
    }
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.dest in known:
                action.completer = known[action.dest]
    argcomplete.autocomplete(parser, always_complete_options=False)


def _with_files(names: Any, files: Any) -> Any:
    return lambda prefix, **more: [*names(), *files(prefix, **more)]


def _targets(**_: Any) -> Iterable[str]:
    from onnx_scatterx.optimizer.targets.catalogue import BASES, VENDORS, profile_names

    return [*BASES, *profile_names(), *VENDORS]


def _rules(**_: Any) -> Iterable[str]:
    from onnx_scatterx.rewrites import RULES

    return [rule.name for rule in RULES]


def _passes(**_: Any) -> Iterable[str]:
    from onnx_scatterx.optimizer.pipeline import PIPELINE

    return [step.name for step in PIPELINE]


def _consumers(**_: Any) -> Iterable[str]:
    from onnx_scatterx.doors.devices.registry import consumer_names

    return consumer_names()


def _nodes(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Return the scatters and gathers of the model that the command names."""
    from onnx_scatterx.ir.graphs import all_graphs
    from onnx_scatterx.ir.io import load

    try:
        graphs = all_graphs(load(parsed_args.model))
    except (ScatterXError, OSError):
        return []
    nodes = [
        n for graph in graphs for n in graph if "Scatter" in n.op_type or "Gather" in n.op_type
    ]
    return [str(node.name or node.outputs[0].name) for node in nodes]
