"""New skills out of OpenAPI documents: reading one, choosing an operation, and the program that calls it."""
