"""From measures to one number, its badge, the gate and the advice."""
