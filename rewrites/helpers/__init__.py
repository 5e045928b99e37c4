"""What several rules share, beside the rows that masks choose (``rows``)."""
