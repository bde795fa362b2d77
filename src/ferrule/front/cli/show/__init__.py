"""What a person or a script sees of a run: lines, JSON, and the streams that carry them."""
