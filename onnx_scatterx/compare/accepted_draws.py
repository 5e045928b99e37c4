"""Draws inputs that one model accepts, for commands that only run it."""

from collections.abc import Mapping
from dataclasses import replace

from onnx_scatterx.assumptions import read_clauses
from onnx_scatterx.compare.draws import MOST_ELEMENTS, Draw, SampleSource, SamplingPolicy
from onnx_scatterx.engine.device import check_sizes
from onnx_scatterx.errors import ModelError, VerifyError
from onnx_scatterx.files import AnyModel, load
from onnx_scatterx.processes import NoReply, scratch
from onnx_scatterx.runtime import Runner, as_file

_SIZES = (64, 128, 32, 16, 256, 8, 4, 2, 1, 3, 512, 1024)
_TIMEOUT = 120.0  # seconds of a run
_ELEMENTS, _ELEMENTS_ASKED_FOR = 1 << 22, 1 << 28


def valid_draws(
    model: AnyModel,
    samples: int = 1,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    library: str | None = None,
) -> tuple[Draw, ...]:
    """Return draws that a model accepts: ``samples`` of them, or fewer if more are not found.

    Floats are normally distributed. ``sizes`` gives named dims a size. Other dims are all 64 in the
    first draw if the model accepts this, and vary in the next draws. ``library`` has custom
    operators. The model runs in a process of its own. Raises `ModelError` if ONNX Runtime cannot
    load the model, and `VerifyError` if no draw is accepted or the model lacks a named dim.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 2] x) => (float[N, 2] z) { z = Neg(x) }''')
    >>> [draw.feeds["x"].shape for draw in valid_draws(model, sizes={"N": 3})]
    [(3, 2)]
    """
    loaded = load(model)
    check_sizes(loaded, sizes or {})
    elements = _ELEMENTS_ASKED_FOR if sizes else _ELEMENTS
    policy = SamplingPolicy(
        ("plain",), _SIZES, elements, overrides=False, equal_first=True, on_purpose=False
    )
    assume = read_clauses({name: f"== {size}" for name, size in (sizes or {}).items()})
    source = SampleSource.of(loaded, assume, seed=seed, policy=policy)
    accepted: list[Draw] = []
    reason = f"their declared dims cannot be met with up to {MOST_ELEMENTS} elements"
    with scratch() as directory:
        file = as_file(model, loaded, directory / "model.onnx")
        with Runner(file, library) as runner:
            failure = runner.load(_TIMEOUT)
            if failure is not None:
                raise ModelError(f"ONNX Runtime cannot load the model: {failure.reason}")
            for draw, combination, _ in source.draws(samples):
                answer = runner.run(draw.feeds, _TIMEOUT)
                if isinstance(answer, NoReply):
                    reason = answer.reason
                    source.tell(combination, False, reason=reason)
                    continue
                source.tell(combination, True)
                accepted.append(replace(draw, outputs=answer))
                if len(accepted) == (samples if source.varies else 1):
                    break
    if not accepted:
        raise VerifyError(f"no inputs were found that the model accepts; give some: {reason}")
    return tuple(accepted)
