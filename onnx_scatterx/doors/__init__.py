"""Doors: the functions and the commands that users call."""
