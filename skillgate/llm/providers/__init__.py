"""The providers: each file gives ``connect(connection) -> Provider``, and only the one asked for is loaded.

Read from the source, where they are set: ``KEY_VARIABLE`` (which holds a static API key), ``KEY_VARIABLE_IS_NAMED`` (by
the setting ``key-variable``), ``BATCHES`` (whatever is asked goes out in batches), ``WITHOUT_TOOLS`` (so it runs no
sessions), ``SERVES_AGENT_SDK``, ``MODELS_OF`` (the provider whose models answer), ``MADE_UP`` (what its answers are,
where no model gives them now), ``HOLDS_SESSIONS`` (also those that a runner ran).
"""
