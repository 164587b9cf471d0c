"""The routes: each parses, calls the library, and answers what the command of the same name prints."""
