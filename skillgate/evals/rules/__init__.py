"""Ways in which an eval set cannot tell a good skill from a bad one: one file each."""
