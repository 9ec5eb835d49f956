"""The deployment: the Terraform module, the rights, the package."""
