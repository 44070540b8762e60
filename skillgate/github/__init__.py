"""GitHub: events, the runner's protocol, the sticky comment and the API's door."""
