"""Runtime: the controller at work in one process. Loop, engine, workers, and what watches over them."""
