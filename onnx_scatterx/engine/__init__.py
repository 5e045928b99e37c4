"""Where every element of a tensor comes from, and how it is written again."""
