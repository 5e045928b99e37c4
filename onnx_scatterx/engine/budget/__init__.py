"""How much work one command, one scatter and one question may take."""
