"""What the job types of AWS share: clients, requests, and the analysis of Glue."""
