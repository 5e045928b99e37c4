"""The abstract domain: the abstract values of tensors, and the scopes in which they hold."""
