"""Pools: sessions on the same work that share one memory and one budget, and keep private messages apart."""
