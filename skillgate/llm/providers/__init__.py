"""The providers: each file gives ``connect(connection) -> Provider``, and only the one asked for is loaded.

These constants are read from the source, if they are set:

- ``KEY_VARIABLE``: the variable that holds a static API key.
- ``KEY_VARIABLE_IS_NAMED``: the setting ``key-variable`` names that variable.
- ``BATCHES``: all requests go out in batches.
- ``WITHOUT_TOOLS``: it has no tools, so it runs no sessions.
- ``SERVES_AGENT_SDK``: whether it does so.
- ``MODELS_OF``: the provider of the models that answer.
- ``MADE_UP``: what its answers are, if no model gives them now.
- ``HOLDS_SESSIONS``: also those that a runner ran.
"""
