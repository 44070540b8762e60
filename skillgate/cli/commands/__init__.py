"""The commands: one file each, its name is the command's."""
