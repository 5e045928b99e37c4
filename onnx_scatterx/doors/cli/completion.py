"""Words that a shell completes: options by argcomplete, and targets, nodes and other names here.

The shell asks by running the command with a variable set; only then is this imported:
`eval "$(register-python-argcomplete onnx-scatterx)"` turns it on in bash and zsh.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from onnx_scatterx.errors import ScatterXError


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end the process; do nothing without argcomplete."""
    try:
        import argcomplete
        from argcomplete.completers import FilesCompleter
    except ImportError:
        return
    models, profiles = FilesCompleter(["onnx", "onnxtxt"]), FilesCompleter(["toml"])
    targets = _from("optimizer.targets.catalogue", lambda m: [t.name for t in m.all_targets()])
    vendors = _from("optimizer.targets.catalogue", lambda m: m.VENDORS)
    passes = _from("optimizer.pipeline", lambda m: [step.name for step in m.PIPELINE])
    consumers = _from("doors.devices.registry", lambda m: m.consumer_names())
    known = {
        "target": lambda prefix, **_: [*targets(), *vendors(), *profiles(prefix)],
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
    """Return what completes a word by the names of a module, which is imported when asked."""
    return lambda **_: names(import_module(f"onnx_scatterx.{module}"))


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
