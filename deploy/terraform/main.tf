terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 6.0"
    }
  }
}

# The only data source that calls AWS: with account_id given, a plan needs no network.
data "aws_caller_identity" "current" {
  count = var.account_id == "" ? 1 : 0
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

locals {
  name      = "${var.environment}-interlock"
  account   = var.account_id == "" ? data.aws_caller_identity.current[0].account_id : var.account_id
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.name
  tags      = merge(var.tags, { "interlock:environment" = var.environment })

  # ARNs are built from names: a function may name itself as the target of its timers, and every policy
  # can be read in the plan.
  in_region = "${local.region}:${local.account}"

  table_names = { for table in ["control", "joblog", "rerun", "events"] : table => "${local.name}-${table}" }
  table_arns = {
    for table, name in local.table_names :
    table => "arn:${local.partition}:dynamodb:${local.in_region}:table/${name}"
  }

  function_names = { for function in local.function_list : function => "${local.name}-${function}" }
  function_arns = {
    for function, name in local.function_names :
    function => "arn:${local.partition}:lambda:${local.in_region}:function:${name}"
  }
  function_role_arns = {
    for function, name in local.function_names :
    function => "arn:${local.partition}:iam::${local.account}:role/${name}"
  }

  queue_names = {
    for queue in ["alerts", "alerts-dlq", "control-dlq", "joblog-dlq", "undelivered"] :
    queue => "${local.name}-${queue}"
  }
  queue_arns = {
    for queue, name in local.queue_names : queue => "arn:${local.partition}:sqs:${local.in_region}:${name}"
  }

  bus_name           = "${local.name}-events"
  bus_arn            = "arn:${local.partition}:events:${local.in_region}:event-bus/${local.bus_name}"
  machine_name       = "${local.name}-pipeline"
  machine_arn        = "arn:${local.partition}:states:${local.in_region}:stateMachine:${local.machine_name}"
  executions_arn     = "arn:${local.partition}:states:${local.in_region}:execution:${local.machine_name}:*"
  timer_group        = "${local.name}-timers"
  timer_group_arn    = "arn:${local.partition}:scheduler:${local.in_region}:schedule-group/${local.timer_group}"
  timer_arns         = "arn:${local.partition}:scheduler:${local.in_region}:schedule/${local.timer_group}/*"
  scheduler_role     = "${local.name}-scheduler"
  scheduler_role_arn = "arn:${local.partition}:iam::${local.account}:role/${local.scheduler_role}"
}
