"""Text for people: reasons, and names with every character visible."""
