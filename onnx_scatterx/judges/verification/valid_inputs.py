"""Inputs that one model accepts: drawn at random, tried, and kept."""

from collections.abc import Mapping
from dataclasses import replace

from onnx_scatterx.errors import ModelError, VerifyError
from onnx_scatterx.ir.io import AnyModel, load
from onnx_scatterx.judges.verification.interface import Interface
from onnx_scatterx.judges.verification.result import Draw
from onnx_scatterx.judges.verification.sample_source import SampleSource, SamplingPolicy
from onnx_scatterx.judges.verification.sampler import MOST_ELEMENTS
from onnx_scatterx.optimizer.assumptions.clauses import clauses
from onnx_scatterx.optimizer.targets.cost_model.sizes import check_sizes
from onnx_scatterx.runtime.opened import as_file
from onnx_scatterx.runtime.worker_client import Failure, Runner
from onnx_scatterx.system.scratch import scratch

_SIZES = (64, 128, 32, 16, 256, 8, 4, 2, 1, 3, 512, 1024)
_ELEMENTS, _ELEMENTS_ASKED_FOR = 1 << 22, 1 << 28


def valid_draws(
    model: AnyModel,
    samples: int = 1,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    library: str | None = None,
    timeout: float = 120.0,
) -> tuple[Draw, ...]:
    """Return as many draws as requested, fewer if others were not found, but at least one.

    Floats are normally distributed. ``sizes`` are those of named dims; the others are all 64 in the
    first draw if the model accepts that, and vary in the next. ``library`` has custom operators.
    The model runs in a process of its own. Raises `ModelError` if ONNX Runtime cannot load the
    model, and `VerifyError` if no draw is accepted or the model lacks a symbol.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 2] x) => (float[N, 2] z) { z = Neg(x) }''')
    >>> [draw.feeds["x"].shape for draw in valid_draws(model, sizes={"N": 3})]
    [(3, 2)]
    """
    loaded = load(model)
    check_sizes(loaded, sizes or {})
    elements = _ELEMENTS_ASKED_FOR if sizes else _ELEMENTS
    policy = SamplingPolicy(("plain",), _SIZES, elements, overrides=False, equal_first=True)
    assume = clauses({name: f"== {size}" for name, size in (sizes or {}).items()})
    source = SampleSource.of(loaded, Interface.of(loaded), seed, assume, False, policy)
    found: list[Draw] = []
    reason = f"their declared dims cannot be met with up to {MOST_ELEMENTS} elements"
    with scratch() as directory:
        file = as_file(model, loaded, directory / "model.onnx")
        with Runner(file, library) as runner:
            failure = runner.load(timeout)
            if failure is not None:
                raise ModelError(f"ONNX Runtime cannot load the model: {failure.reason}")
            for number in range(6 * samples + 60):
                drawn = source.draw(number)
                if drawn is None:
                    continue
                draw, combination, _ = drawn
                answer = runner.run(draw.feeds, timeout)
                accepted = not isinstance(answer, Failure)
                source.search.tell(combination, accepted)
                if isinstance(answer, Failure):
                    reason = answer.reason
                    continue
                found.append(replace(draw, outputs=answer))
                if len(found) == (samples if source.varies else 1):
                    break
    if not found:
        raise VerifyError(f"no inputs were found that the model accepts; give some: {reason}")
    return tuple(found)
