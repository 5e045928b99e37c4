"""The rules: one file each, tried in the order of one tuple."""
