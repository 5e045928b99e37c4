"""How frameworks say "scatter", each convention put into the one equation."""
