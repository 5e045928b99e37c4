"""What a user says of inputs that the model does not: read, checked, and found to be needed."""
