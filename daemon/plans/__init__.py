"""Plan files on disk: reading them with lines and columns, finding them in folders, changing and running them."""
