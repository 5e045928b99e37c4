"""Work in processes of their own, kept in a file: what is there is not done again.

ONNX Runtime may take its process with it: a division by 0 ends it at once.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Work = Callable[[Path, Sequence[str]], Iterator[Row]]
"""From a model and keys to a row for each key, in their order."""


def rows_of(
    work: Work, tasks: Sequence[tuple[Path, Sequence[str]]], file: Path, jobs: int, limit: float
) -> Iterator[Row]:
    """Yield a row for each key of each model: from the file, or made now and added to it.

    A key for which no row comes within ``limit`` seconds gets a row that says so.
    """
    known: dict[tuple[str, str], Row] = {}
    if file.exists():
        for line in file.read_text().splitlines():
            row = json.loads(line)
            known[row["model"], row["key"]] = row
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = threading.Lock()

    def one(task: tuple[Path, Sequence[str]]) -> list[Row]:
        path, keys = task
        left = [key for key in keys if (path.stem, key) not in known]
        made = []
        for row in _alone(work, path, left, limit):
            with lock, file.open("a") as out:
                out.write(json.dumps(row) + "\n")
            made.append(row)
        return [known[path.stem, key] for key in keys if (path.stem, key) in known] + made

    with ThreadPoolExecutor(jobs) as pool:
        for some in pool.map(one, tasks):
            yield from some


def _alone(work: Work, path: Path, keys: list[str], limit: float) -> Iterator[Row]:
    context = multiprocessing.get_context("fork")
    while keys:
        mine, other = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(work, path, keys, other))
        process.start()
        other.close()
        try:
            while keys:
                if mine.poll(limit):
                    row = mine.recv()
                else:
                    row = {"answer": "no answer", "why": f"none within {limit:g} s"}
                yield {"model": path.stem, "key": keys.pop(0), **row}
                if row["answer"] == "no answer":
                    break
        except EOFError:
            yield {"model": path.stem, "key": keys.pop(0), "answer": "died", "why": ""}
        finally:
            process.kill()
            process.join()


def _send(work: Work, path: Path, keys: list[str], out: Connection) -> None:
    for row in work(path, keys):
        out.send(row)
