"""What a device or runtime can run, and what running it costs."""
