"""Models as files and as graphs: reads, checks, raises, lowers, merges and writes them."""
