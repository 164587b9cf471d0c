"""The command line: parse, call the library, print. Everything it does, the library can do."""

from foveal.cli.app import app, main

__all__ = ["app", "main"]
