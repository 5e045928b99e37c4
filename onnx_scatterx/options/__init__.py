"""The options that functions, passes and commands share."""
