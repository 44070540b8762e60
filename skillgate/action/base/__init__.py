"""What the base branch says of a change: its policy, its waivers, its corpus."""
