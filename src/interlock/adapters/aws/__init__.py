"""AWS adapters: DynamoDB, EventBridge, EventBridge Scheduler and Step Functions. One technology a module."""
