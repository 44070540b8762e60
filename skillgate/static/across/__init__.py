"""The room of rules across skills."""
