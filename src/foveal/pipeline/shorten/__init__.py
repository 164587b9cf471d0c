"""Less of a text, with what matters kept: short forms by content type, summaries, strategies, the arc."""
