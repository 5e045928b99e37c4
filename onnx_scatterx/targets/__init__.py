"""What a device or runtime takes: targets by name, and files of profiles.

Come here for a target, for the limits of its operators, and for the keys of a profile. Not for the
question whether a target takes one node (``engine.device``), and not for asking a compiler
(``lab``).
"""
