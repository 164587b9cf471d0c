"""A workspace in → what of it belongs in the window: docs, files, a map of the code, git, tests, findings."""
