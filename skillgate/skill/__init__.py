"""From a directory to a parsed Skill."""
