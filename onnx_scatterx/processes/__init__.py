"""Child processes, signals, scratch folders, and settings that belong to the whole process.

Come here for starting a child that answers requests, for ending it in time, for a folder that is
removed at the end, and for what a whole process shares: memory, the garbage collector and loggers.
Not for what is asked of a child: sessions are in ``runtime``, compilers in ``lab``, and many models
in ``doors``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.processes.child import Child as Child
    from onnx_scatterx.processes.child import Closing as Closing
    from onnx_scatterx.processes.child import NoReply as NoReply
    from onnx_scatterx.processes.child import PythonChild as PythonChild
    from onnx_scatterx.processes.child import Reply as Reply
    from onnx_scatterx.processes.collection import quiet as quiet
    from onnx_scatterx.processes.collection import raised_gc_threshold as raised_gc_threshold
    from onnx_scatterx.processes.interrupts import GRACE as GRACE
    from onnx_scatterx.processes.interrupts import Stopped as Stopped
    from onnx_scatterx.processes.interrupts import end_soon as end_soon
    from onnx_scatterx.processes.interrupts import postponed as postponed
    from onnx_scatterx.processes.interrupts import stoppable as stoppable
    from onnx_scatterx.processes.interrupts import unless_stopped as unless_stopped
    from onnx_scatterx.processes.memory import give_back as give_back
    from onnx_scatterx.processes.memory import held as held
    from onnx_scatterx.processes.memory import map_large_blocks as map_large_blocks
    from onnx_scatterx.processes.scratch_folders import clear as clear
    from onnx_scatterx.processes.scratch_folders import is_scratch as is_scratch
    from onnx_scatterx.processes.scratch_folders import scratch as scratch
    from onnx_scatterx.processes.serving import Answering as Answering
    from onnx_scatterx.processes.serving import Message as Message
    from onnx_scatterx.processes.serving import RawTensor as RawTensor
    from onnx_scatterx.processes.serving import Tell as Tell
    from onnx_scatterx.processes.serving import serve as serve
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "child": "Child Closing NoReply PythonChild Reply",
            "collection": "quiet raised_gc_threshold",
            "interrupts": "GRACE Stopped end_soon postponed stoppable unless_stopped",
            "memory": "give_back held map_large_blocks",
            "scratch_folders": "clear is_scratch scratch",
            "serving": "Answering Message RawTensor Tell serve",
        },
    )
