"""The routes: each parses a request, calls the library, and returns what its command prints."""
