"""Files: what is read is a regular file of bearable size."""
