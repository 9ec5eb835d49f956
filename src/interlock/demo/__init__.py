"""Demo: a small company's pipelines, with days of history, live sources, and things to decide."""
