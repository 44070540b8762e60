"""The judge's questions: each file declares one, with its anchors, and turns a reply into an estimate."""
