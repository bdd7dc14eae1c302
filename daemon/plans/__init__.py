"""Plan files on disk: reading them with lines and columns, finding them, changing them, running them."""
