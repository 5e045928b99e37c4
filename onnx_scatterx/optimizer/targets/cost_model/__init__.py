"""What it costs to run a plan: in nodes, or in time on a machine that was measured.

`costs` holds the constants of a machine and the values of symbolic sizes; `calibrate` measures the
constants.
"""
