"""Files: nothing that was read is replaced, and what is written appears whole or not at all.

What is read is a regular file of bearable size (`reading`). Readers report what they read
(`record`), and every writer writes through a `Writing` (`writing`), which refuses such files. It
fills temporaries (`scratch`) and moves them to their places together.
"""
