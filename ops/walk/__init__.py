"""A recorded walk: every route as every role on a real server, to hold one checkout's answers against another's."""
