"""Files: no file that was read is replaced, and output files appear whole or not at all.

Input files are regular files of limited size (`reading`). Readers report what they read (`record`),
and every writer writes through a `Writing` (`writing`), which refuses such files. It fills
temporary files (`scratch`) and moves them to their places together.
"""
