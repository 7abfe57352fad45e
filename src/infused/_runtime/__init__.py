"""What every computation shares: threads, the memory budget, progress, files, messages, extras."""
