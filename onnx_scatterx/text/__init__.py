"""Text for people: the reasons, the values of options, and names with every character visible."""
