"""The abstract domain: what is known of one tensor, and where it holds."""
