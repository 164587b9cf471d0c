"""Collect what belongs in the window from a workspace: docs, files, code map, git, tests, findings."""
