"""The scatters and gathers of frameworks, each written as the equation of the paper."""
