"""The scatters of frameworks, each convention written as the one equation."""
