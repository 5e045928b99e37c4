"""The files of `--report`, and what is told of a model that could not be read or optimized."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from onnx_scatterx.doors.batch.markdown import markdown
from onnx_scatterx.doors.cli.output import show_text
from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.files import Writing
from onnx_scatterx.text import as_json

PAGE, JSON, TABLE = ".html", ".json", ".md"
_KINDS = (JSON, PAGE, TABLE)
Texts: TypeAlias = Mapping[str, Callable[[], str]]
"""What makes the text of each kind of report, by its suffix."""


def report_paths(reports: Sequence[str], writing: Writing) -> list[Path]:
    """Return the paths of reports, which are claimed; ScatterXError if one of them is wrong."""
    for report in reports:
        if Path(report).suffix not in _KINDS:
            raise ScatterXError(f"{report}: a report is .json, .html or .md")
        writing.claim(Path(report), "the report")
    return [Path(report) for report in reports]


def write_reports(paths: Sequence[Path], writing: Writing, texts: Texts) -> None:
    """Write the reports for which there are texts."""
    for path in paths:
        if path.suffix in texts:
            writing.text(path, texts[path.suffix](), "the report")


@contextlib.contextmanager
def failure_told(args: argparse.Namespace) -> Iterator[None]:
    """If the model of a command fails, tell it as of many models: as JSON, and in a table.

    Other reports stand beside a result only.
    """
    start = time.perf_counter()
    try:
        yield
    except (ScatterXError, OSError) as error:
        from onnx_scatterx.doors.batch.summary import failed_outcome

        source, output = Path(args.models[0]), getattr(args, "output", None)
        outcome = failed_outcome(
            source,
            None if output is None else Path(output),
            one_line(error) if isinstance(error, ScatterXError) else _told(error),
            time.perf_counter() - start,
        )
        if args.json:
            show_text(as_json(outcome.to_dict(args.gate)))
        tables = [report for report in args.report if report.endswith(TABLE)]
        with Writing() as writing:
            told = {TABLE: lambda: markdown([outcome], args.gate)}
            write_reports(report_paths(tables, writing), writing, told)
        raise


def _told(error: OSError) -> str:
    return f"{error.filename or 'error'}: {error.strerror or error}"
