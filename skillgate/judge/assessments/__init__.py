"""The judge's questions: each file declares one, ``QUESTION``, with the anchors of each dimension it asks about."""
