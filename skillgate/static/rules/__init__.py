"""The rules over one parsed skill: findings beyond the score, one file each.

``NEEDS`` names, for a rule, the words of which one must be somewhere in a skill's text for it to have anything to say:
its file is loaded only then. A rule that is not named here is loaded for every skill. A test holds each entry to its
rule's own case table. ``OPTIONAL`` are the opt-in rules, loaded only where one of them is selected.
"""

SPECIFIED = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")  # by the specification
CLAUDE_CODE = (  # what Claude Code adds to those fields, as of 2026-11
    *("when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "disallowed-tools"),
    *("model", "effort", "context", "agent", "background", "hooks", "paths", "shell"),
)

OPTIONAL = frozenset(
    ("portable_field", "portable_path", "portable_product_name", "portable_substitution", "portable_tool_name")
)
NEEDS: dict[str, tuple[str, ...]] = {
    "backslash_path": ("\\",),
    "broken_anchor": ("](#", "](<#", "]: #", ".md#", ".markdown#"),
    "broken_link": ("](", "]:"),
    "link_escapes": ("../",),
    "nested_reference": ("](", "]:"),
    "allowed_tools_shape": ("allowed-tools",),
    "compatibility_invalid": ("compatibility",),
    "description_markup": ("<", ">"),
    "field_value": ("effort:", "context:", "shell:"),
    "metadata_shape": ("metadata",),
    "name_reserved": ("claude", "anthropic", "Claude", "Anthropic", "CLAUDE", "ANTHROPIC"),
    "code_syntax": ("```", "~~~"),
    "judge_addressed": (
        *("his skill", "his\nskill", "HIS SKILL", "his plugin", "his agent skill", "his document", "his file"),
        *("his text", "udge", "UDGE", "rader", "valuator", "rater", "corer"),
    ),
    "portable_field": CLAUDE_CODE,
    "portable_path": ("~/.", "$HOME", "${HOME}", "/Users/", "/home/", ":\\", "%USERPROFILE%"),
    "portable_product_name": ("Claude", "Codex", "Copilot", "Gemini", "ChatGPT"),
    "portable_tool_name": (
        *("Todo", "Web", "AskUser", "NotebookEdit", "PlanMode", "Multi", "Bash", "Kill", "Slash", "mcp__", " tool"),
    ),
    "portable_substitution": ("$ARGUMENTS", "${CLAUDE_", "!`", "```!"),
    "substitution_hazard": ("$0", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9"),
    "unclosed_fence": ("```", "~~~"),
    "unpinned_package": ("npx", "bunx", "npm exec", "uvx", "uv tool run", "dlx", "pipx run"),
    "untagged_code": ("```", "~~~"),
}
