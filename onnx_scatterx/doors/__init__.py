"""What users call: the functions of ``api`` and beside it, and the command line ``cli``."""
