"""Every command gets files with mistakes. It does its work, or reports the error in one line.

``python -m tests.files.fuzz_files`` makes cases for a while. Each is a model of ``models/`` (or a
profile, an array, an assumption) that is changed byte by byte or field by field, and one command
line about it. Each runs in a process of its own, forked from one that has imported everything, with
limits of time and memory. What must hold of every case is in `judge`.
"""
