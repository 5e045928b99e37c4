"""What a device or runtime takes: profiles by name, and files of profiles."""
