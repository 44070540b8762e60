"""A language server for editors: findings, fixes, hovers and completions for the files of a skill.

Only ``server`` knows the protocol. It needs the extra ``lsp``.
"""
