"""Judge requests: which rules of its provider does one break? One file per provider."""
