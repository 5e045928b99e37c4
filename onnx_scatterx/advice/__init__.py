"""What to do next: arguments under which scatters that stay are removed, each of them tried."""
