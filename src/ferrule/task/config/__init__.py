"""Settings: one schema, five layers, and where each value comes from."""
