"""Trial after trial, in a process of its own that is started again after a mutant ended it.

A mutant that ends or hangs ONNX Runtime before it was optimized says nothing. After that, it is a
finding.
"""

import faulthandler
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from onnx_scatterx.errors import ScatterXError
from tests.engine.fuzz.mutations import mutated
from tests.helpers.trial import FoundError, Options, trial

_SECONDS = 8  # of the processor, for one mutant
_WAITED = 60  # seconds that it may take on a machine that has more to do
_MEMORY = 6 << 30  # bytes of address space


@dataclass(frozen=True)
class Case:
    """One mutant, which its numbers make."""

    path: Path
    seed: int

    def drawn(self) -> tuple[onnx.ModelProto, list[str], Options]:
        """Return the mutant, its changes, and what ``optimize`` is asked for."""
        rng = random.Random(f"{self.path.name} {self.seed}")
        model, done = mutated(onnx.load(self.path), rng)
        return model, done, Options.drawn(rng)


@dataclass
class Tally:
    """What a campaign came to."""

    mutants: int = 0
    accepted: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    rewritten: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    @property
    def says_little(self) -> bool:
        """Whether too few mutants were accepted, or too few runs compared under either option."""
        return self.accepted < self.mutants / 5 or 0 in (self.runs["off"], self.runs["default"])

    def __str__(self) -> str:
        return (
            f"{self.mutants} mutants, {self.accepted} accepted, {self.rewritten} rewritten; "
            f"{self.runs['off']} runs compared with optimizations off, "
            f"{self.runs['default']} with default options; "
            f"skipped {dict(self.skipped)}; {len(self.found)} found"
        )


def cases(paths: Sequence[Path], seed: int, seconds: float | None, count: int) -> Iterator[Case]:
    """Yield cases until the time is over, or so many."""
    end = None if seconds is None else time.monotonic() + seconds
    rng = random.Random(seed)
    for number in range(count):
        if end is not None and time.monotonic() >= end:
            return
        yield Case(rng.choice(list(paths)), seed * 10**7 + number)


def campaign(waiting: Iterator[Case], *, keep: Path | None = None) -> Tally:
    """Try cases, one after the other; return what was found."""
    tally = Tally()
    case = next(waiting, None)
    while case is not None:
        worker = _Worker()
        while case is not None:
            tally.mutants += 1
            answer = worker.ask(case)
            _count(tally, case, answer, keep)
            case = next(waiting, None)
            if answer.get("died"):
                break
        worker.close()
    return tally


def _count(tally: Tally, case: Case, answer: dict[str, object], keep: Path | None) -> None:
    found = answer.get("found")
    if found is not None:
        model, done, options = case.drawn()
        tally.found.append(f"{case.path.name}, seed {case.seed}, {options}, {done}: {found}")
        print(tally.found[-1], file=sys.stderr, flush=True)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            onnx.save(model, keep / f"{case.path.stem}_{case.seed}.onnx")
    elif "skipped" in answer:
        tally.skipped[str(answer["skipped"])] += 1
    elif answer.get("off"):
        tally.accepted += 1
        tally.rewritten += bool(answer["rewritten"])
        tally.runs.update(off=int(str(answer["off"])), default=int(str(answer["default"])))
    else:
        tally.skipped["rejected"] += 1


class _Worker:
    """A forked process that tries the cases that it is told, and says what came of them."""

    def __init__(self) -> None:
        to_child, from_parent = os.pipe()
        to_parent, from_child = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(from_parent)
            os.close(to_parent)
            try:
                _serve(to_child, from_child)
            finally:
                os._exit(0)
        os.close(to_child)
        os.close(from_child)
        self._tell = os.fdopen(from_parent, "w")
        self._hear = os.fdopen(to_parent)

    def ask(self, case: Case) -> dict[str, object]:
        """Return what came of a case: counts, what was found, or why it was skipped."""
        self._tell.write(json.dumps([str(case.path), case.seed]) + "\n")
        self._tell.flush()
        stage = "original"
        for line in self._hear:
            answer: dict[str, object] = json.loads(line)
            if "stage" not in answer:
                return answer
            stage = str(answer["stage"])
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        ended = os.waitstatus_to_exitcode(status)  # without what says that memory was dumped
        what = signal.Signals(-ended).name if ended < 0 else f"status {ended}"
        if stage == "original" or what in ("SIGPROF", "SIGALRM"):
            return {"died": True, "skipped": f"{stage} ended by {what}"}
        return {"died": True, "found": f"ended by {what} after it was optimized"}

    def close(self) -> None:
        """End the process."""
        self._tell.close()
        self._hear.close()
        if self.process:
            os.waitpid(self.process, 0)


def _serve(heard: int, told: int) -> None:
    faulthandler.disable()
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(told, "w")

    def tell(answer: dict[str, object]) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    for line in os.fdopen(heard):
        path, seed = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        signal.alarm(_WAITED)
        tell(_tried(Case(Path(path), seed), tell))
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def _tried(case: Case, tell: Callable[[dict[str, object]], None]) -> dict[str, object]:
    model, _, options = case.drawn()
    try:
        done = trial(model, options, case.seed, accepted=lambda: tell({"stage": "optimized"}))
    except FoundError as error:
        return {"found": str(error)}
    except ScatterXError as error:
        return {"skipped": type(error).__name__}
    except MemoryError:
        return {"skipped": "memory"}
    except Exception as error:
        return {"found": f"raises {error!r}"}
    return {"off": done.off, "default": done.default, "rewritten": done.rewritten}
