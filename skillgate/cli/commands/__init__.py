"""The commands: one file each, named after the command."""
