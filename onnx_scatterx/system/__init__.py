"""Files: no file that was read is replaced, and output files appear whole or not at all.

Input files are regular files of limited size, and readers report what they read (`reading`),
and every writer writes through a `Writing` (`writing`), which refuses such files. It fills
temporary files (`scratch`) and moves them to their places together.
"""
