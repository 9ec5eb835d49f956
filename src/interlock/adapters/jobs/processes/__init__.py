"""What `command` jobs need: a supervisor for each process, and the folder it writes to."""
