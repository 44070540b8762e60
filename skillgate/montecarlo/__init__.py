"""Layer 3: simulated sessions in which a model may load the skill, and what they measure."""
