"""Find the messages that answer a question, by keywords and by vectors."""
