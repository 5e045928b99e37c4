"""Files, signals and processes: no input is replaced, and no output is written in part.

Readers open only regular files of limited size, and note each file (`reading`). Every writer uses
a `Writing` (`writing`), which refuses to replace a noted file. A `Writing` fills temporary files
(`scratch`), and then moves all of them to their places.
"""
