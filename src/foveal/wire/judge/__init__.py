"""A request in a provider's JSON → which rules it breaks: a file per provider, a function per rule."""
