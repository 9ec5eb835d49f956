# A production environment: pipelines, Slack, alarms, a key of its own and jobs on Glue and Lambda.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.0"
    }
  }
}

variable "region" {
  type    = string
  default = "eu-central-1"
}

variable "project" {
  description = "The folder with pipelines/, calendars/ and alerts.yaml."
  type        = string
}

variable "dist_path" {
  type = string
}

variable "account_id" {
  type = string
}

variable "slack_channel_id" {
  type = string
}

provider "aws" {
  region = var.region
}

resource "aws_sns_topic" "alarms" {
  name = "interlock-alarms"
}

module "interlock" {
  source = "../.."

  environment = "prod"
  account_id  = var.account_id
  dist_path   = var.dist_path

  # interlock compile . -o build/pipelines.json
  pipelines_path       = "${var.project}/pipelines"
  calendars_path       = "${var.project}/calendars"
  compiled_config_path = "${var.project}/build/pipelines.json"

  slack_channel_id    = var.slack_channel_id
  create_slack_secret = true
  sns_alarm_topic_arn = aws_sns_topic.alarms.arn

  enable_glue_trigger   = true
  glue_job_arns         = ["arn:aws:glue:${var.region}:${var.account_id}:job/silver-orders"]
  enable_lambda_trigger = true
  lambda_trigger_arns   = ["arn:aws:lambda:${var.region}:${var.account_id}:function:refresh-views"]

  lambda_concurrency  = { stream-router = 10, orchestrator = 20, watchdog = 1 }
  log_retention_days  = 90
  deletion_protection = true
  tags                = { team = "data-platform" }
}

output "interlock_toml" {
  value = module.interlock.interlock_toml
}

# For the role of a producer that writes readings of one pipeline.
output "sensor_writer_policies" {
  value = module.interlock.sensor_writer_policy_json
}
