"""One model from its settings to what was done with each node: the order of the passes.

Come here for which passes run on a job, and for what runs them more than once; not for a pass (it
is in ``engine.passes`` or ``fitting``, in a file of its name), nor for what a user reads of the
result (in ``tell``).
"""
