"""Demo: the medallion example at a speed that one can watch, with sources that are sometimes wrong."""
