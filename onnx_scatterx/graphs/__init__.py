"""Graphs of onnx_ir: what they hold, and small changes of them.

Come here for walks (``all_nodes``, ``reached``), for questions about one node or value (is it this
operator, who computes it, is it constant in every run), and for removing, replacing and naming.
Not for what is known of a tensor (``engine.analysis``), not for writing operators
(``engine.write``), and not for files and messages (``files``).
"""
