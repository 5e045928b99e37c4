"""The operators that a device or runtime takes, and the cost of running them."""
