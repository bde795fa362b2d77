"""Compaction, the pure half: what is summarised, from where on the conversation is kept, what the model is asked."""
