"""Runtime: the controller running in one process. Loop, engine, workers, and what watches over them."""
