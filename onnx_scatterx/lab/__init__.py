"""Compilers of devices are asked, and models are timed."""
