"""How foreign programs are started, bounded, kept from secrets and ended."""
