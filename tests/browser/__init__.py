"""Browser: the pages as people use them, in a real one."""
