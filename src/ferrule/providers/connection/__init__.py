"""What one answer goes through between the socket and its decoder."""
