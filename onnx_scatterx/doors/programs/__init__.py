"""Removes scatters from PyTorch's programs: the rules, and the kinds of graphs they write."""
