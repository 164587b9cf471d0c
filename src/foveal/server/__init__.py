"""Everything the library does, over HTTP, and the dashboard that shows it."""
