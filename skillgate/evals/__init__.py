"""The eval sets that a skill brings: reading the formats there are, and finding sets that cannot tell anything."""
