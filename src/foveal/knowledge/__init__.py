"""Conversations in → what is known of the user and their topics, ready to show; what they may ask next."""
