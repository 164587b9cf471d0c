"""Words in → the messages that answer them: keywords and vectors, fused; the best pieces for one question."""
