"""The rules that are opt-in: they are asked only where one of them is selected."""

OPTIONAL = frozenset(
    ("portable_field", "portable_path", "portable_product_name", "portable_substitution", "portable_tool_name")
)
