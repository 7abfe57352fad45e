"""What every computation shares: threads, memory, the cluster, progress, files, messages, extras."""
