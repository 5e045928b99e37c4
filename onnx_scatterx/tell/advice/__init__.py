"""Advice: arguments that remove the kept scatters. Each of these arguments was tried."""
