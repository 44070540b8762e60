"""The model port: providers, retries, cache, budget and the drivers of layers. Nothing here knows what is asked."""
