"""Requests in → answers out: everything the library does over HTTP, and the page that shows it."""
