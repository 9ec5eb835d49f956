"""The job types of AWS, and what they share: clients, requests, secrets."""
