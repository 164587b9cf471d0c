"""What is known about the user: memories, topics and entities, bundles of them, and predictions."""
