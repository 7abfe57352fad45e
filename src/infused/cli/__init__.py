"""The command line: one thin file per command. Libraries that compute are loaded when a command runs."""
