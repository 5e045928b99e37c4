"""Child processes, signals, scratch folders, and settings that belong to the whole process.

Come here for starting a child that answers requests, for ending it in time, for a folder that is
removed at the end, and for the garbage collector. Not for what is asked of a child: sessions are in
``runtime``, compilers in ``lab``, and many models in ``doors``.
"""
