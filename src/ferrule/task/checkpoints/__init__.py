"""Going back: the points of a session, what an undo would do, and the undo itself, which can be undone."""
