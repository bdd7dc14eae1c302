"""Tickets looked through by a plan file: what is urgent is reported, and the exit code is one for CI."""
