"""What it costs to run a plan: in nodes, or in time on a machine that was measured.

`machine` holds a machine's constants, `sizes` values symbolic sizes, `costs` puts both together;
`calibrate` measures the constants.
"""
