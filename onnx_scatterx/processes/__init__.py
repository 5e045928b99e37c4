"""Child processes, signals, scratch folders, and settings that belong to the whole process."""
