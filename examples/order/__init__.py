"""The main example: deliver order 42, whatever the carriers say."""
