"""The options that functions, passes and commands share, in one list.

Come here for an option: its type, its default, its text after ``--help``, and how a command reads
and writes its value. Not for what the options of one run are, once they are checked (those are the
``Settings`` of ``engine.passes``), and not for the arguments of one command (``doors``).
"""
