# The least that works: one environment, no pipelines yet. See docs/howto/deploy-on-aws.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.0"
    }
  }
}

provider "aws" {
  region = "eu-central-1"
}

module "interlock" {
  source = "../.."

  environment = "dev"
  dist_path   = "../../../../dist"
}

output "interlock_toml" {
  value = module.interlock.interlock_toml
}
