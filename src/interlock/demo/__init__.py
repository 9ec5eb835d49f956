"""Demo: the medallion example at a speed you can watch, with sources that are sometimes wrong."""
