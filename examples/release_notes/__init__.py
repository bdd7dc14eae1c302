"""Release notes from the history of a git repository, as a plan file."""
