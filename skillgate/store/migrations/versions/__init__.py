"""One file for each step, named by its revision; what stands here is never changed once it was released."""
