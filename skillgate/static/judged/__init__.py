"""Rules whose hits come from a judge that read the skill: a problem of layer 2 names the file that declares it."""
