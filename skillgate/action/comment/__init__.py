"""The comment on a pull request, and the issue of a regression."""
