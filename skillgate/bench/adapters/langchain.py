"""Run a LangChain skill by an adapter of the user's own; nothing here imports LangChain."""

from skillgate.bench.adapters.custom import open_adapter as open_adapter
