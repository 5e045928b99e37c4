"""Models and other files: read and checked whole, written all or not at all.

Come here for opening a model in any form, for its external data, and for writing files that appear
together and never replace what was read. Not for the graphs inside (``graphs``), and not for a
session that runs a model (``runtime``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.files.check import check_opset as check_opset
    from onnx_scatterx.files.check import check_valid as check_valid
    from onnx_scatterx.files.data import from_proto as from_proto
    from onnx_scatterx.files.data import graphs_in as graphs_in
    from onnx_scatterx.files.data import ir_tensors as ir_tensors
    from onnx_scatterx.files.data import locations as locations
    from onnx_scatterx.files.data import replace_tensors as replace_tensors
    from onnx_scatterx.files.data import to_proto as to_proto
    from onnx_scatterx.files.io import Opened as Opened
    from onnx_scatterx.files.io import check_file as check_file
    from onnx_scatterx.files.io import load as load
    from onnx_scatterx.files.io import note_model as note_model
    from onnx_scatterx.files.io import open_model as open_model
    from onnx_scatterx.files.model_source import AnyModel as AnyModel
    from onnx_scatterx.files.model_source import IrLike as IrLike
    from onnx_scatterx.files.model_source import MessageLike as MessageLike
    from onnx_scatterx.files.model_source import ModelSource as ModelSource
    from onnx_scatterx.files.outside import follow_links as follow_links
    from onnx_scatterx.files.outside import is_within as is_within
    from onnx_scatterx.files.outside import together as together
    from onnx_scatterx.files.parse import parsed as parsed
    from onnx_scatterx.files.reading import Files as Files
    from onnx_scatterx.files.reading import files_read as files_read
    from onnx_scatterx.files.reading import known_reads as known_reads
    from onnx_scatterx.files.reading import note_read as note_read
    from onnx_scatterx.files.reading import open_regular as open_regular
    from onnx_scatterx.files.reading import parse_toml as parse_toml
    from onnx_scatterx.files.reading import read_toml as read_toml
    from onnx_scatterx.files.reading import recorded as recorded
    from onnx_scatterx.files.saving import MESSAGE_LIMIT as MESSAGE_LIMIT
    from onnx_scatterx.files.saving import as_bytes as as_bytes
    from onnx_scatterx.files.saving import save as save
    from onnx_scatterx.files.saving import stage as stage
    from onnx_scatterx.files.size import file_size as file_size
    from onnx_scatterx.files.writing import Writing as Writing
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "check": "check_opset check_valid",
            "data": "from_proto graphs_in ir_tensors locations replace_tensors to_proto",
            "io": "Opened check_file load note_model open_model",
            "model_source": "AnyModel IrLike MessageLike ModelSource",
            "outside": "follow_links is_within together",
            "parse": "parsed",
            "reading": "Files files_read known_reads note_read open_regular parse_toml read_toml "
            "recorded",
            "saving": "MESSAGE_LIMIT as_bytes save stage",
            "size": "file_size",
            "writing": "Writing",
        },
    )
