"""Models and other files: read and checked whole, written all or not at all."""
