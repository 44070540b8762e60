"""Show recorded invocations: the dashboard, groups within a skill, lists, and the page of one skill."""
