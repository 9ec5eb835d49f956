"""AWS adapters: DynamoDB, EventBridge, EventBridge Scheduler and Step Functions. One technology per
module.
"""
