"""A scripted model: it answers by rules, or makes something plausible up, and never claims to be a real one."""
