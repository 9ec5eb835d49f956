"""Job adapters: one module a type of workload."""
