"""HTTP APIs: the requests of tasks, and skills for the operations of an OpenAPI document."""
