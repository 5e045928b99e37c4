"""What to do next: arguments that remove the kept scatters. Each of them was tried."""
