"""The check that two models are not proven to be the same."""

import onnx

from onnx_scatterx.proof.proof import Proof
from tests.helpers.proving import prove


def unproven(before: onnx.ModelProto, after: onnx.ModelProto, says: str = "") -> Proof:
    """Check that there is no proof, and that the answer says something."""
    found = prove(before, after)
    assert found.kind == "unknown", found
    assert says in str(found)
    return found
