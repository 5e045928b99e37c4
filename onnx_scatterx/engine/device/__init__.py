"""What a target takes of a node whose shapes and elements are known, and what a node costs."""
