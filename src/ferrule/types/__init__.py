"""Values that every layer shares. Nothing here reads, writes or waits."""
