"""PyTorch's programs without scatters: the rules, and the graphs that they write."""
