"""The command line: parse, call the library, print. Nothing here can do what the library cannot."""

from foveal.cli.app import app, main

__all__ = ["app", "main"]
