"""Triage of open issues as a plan file, for a terminal and for CI."""
