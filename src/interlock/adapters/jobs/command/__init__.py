"""`command` jobs: the adapter, a supervisor for each process, and the folder it writes to."""
