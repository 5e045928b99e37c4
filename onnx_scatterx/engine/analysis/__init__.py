"""What the integer tensors of a model hold, known without running it.

Come here for what is known of a value (``TensorValue``) and of a graph (``Scope``, ``Knowledge``),
for what an operator's outputs hold and what its checks prove, and for the elements that it reads
(``Reading``, ``cuts_of``). Contents are terms (``engine.terms``). Not for the form of a scatter
(that is in ``engine.lift``), nor for what a device takes of a node (that is in ``engine.device``).
"""
