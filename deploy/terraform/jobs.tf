# What the orchestrator may do to jobs: nothing, until a type is enabled and its resources are named. The SLA
# monitor may ask how they are, before it calls one late.

locals {
  job_types = {
    glue           = { enabled = var.enable_glue_trigger, arns = var.glue_job_arns, list = "glue_job_arns", roles = [] }
    emr            = { enabled = var.enable_emr_trigger, arns = var.emr_cluster_arns, list = "emr_cluster_arns", roles = var.emr_role_arns }
    emr_serverless = { enabled = var.enable_emr_serverless_trigger, arns = var.emr_serverless_app_arns, list = "emr_serverless_app_arns", roles = var.emr_serverless_role_arns }
    sfn            = { enabled = var.enable_sfn_trigger, arns = var.sfn_trigger_arns, list = "sfn_trigger_arns", roles = [] }
    lambda         = { enabled = var.enable_lambda_trigger, arns = var.lambda_trigger_arns, list = "lambda_trigger_arns", roles = [] }
  }

  job_rights = {
    glue = [
      {
        actions   = ["glue:StartJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"]
        resources = var.glue_job_arns
      },
      {
        actions   = ["logs:FilterLogEvents"]
        resources = ["arn:${local.partition}:logs:${local.in_region}:log-group:/aws-glue/*"]
      },
    ]
    emr = [
      {
        actions = [
          "elasticmapreduce:AddJobFlowSteps", "elasticmapreduce:ListSteps", "elasticmapreduce:DescribeStep",
          "elasticmapreduce:CancelSteps",
        ]
        resources = var.emr_cluster_arns
      },
      { actions = ["iam:PassRole"], resources = var.emr_role_arns },
    ]
    emr_serverless = [
      { actions = ["emr-serverless:StartJobRun", "emr-serverless:ListJobRuns"], resources = var.emr_serverless_app_arns },
      {
        actions   = ["emr-serverless:GetJobRun", "emr-serverless:CancelJobRun"]
        resources = [for arn in var.emr_serverless_app_arns : "${arn}/jobruns/*"]
      },
      { actions = ["iam:PassRole"], resources = var.emr_serverless_role_arns },
    ]
    sfn = [
      { actions = ["states:StartExecution", "states:DescribeStateMachine"], resources = var.sfn_trigger_arns },
      {
        actions   = ["states:DescribeExecution", "states:StopExecution"]
        resources = [for arn in var.sfn_trigger_arns : "${replace(arn, ":stateMachine:", ":execution:")}:*"]
      },
    ]
    lambda = [
      {
        actions   = ["lambda:InvokeFunction"]
        resources = flatten([for arn in var.lambda_trigger_arns : [arn, "${arn}:*"]])
      },
    ]
  }

  # What finds and polls a job, and starts or stops none.
  job_looks = [
    "glue:GetJobRun", "glue:GetJobRuns", "logs:FilterLogEvents", "elasticmapreduce:ListSteps", "elasticmapreduce:DescribeStep",
    "emr-serverless:ListJobRuns", "emr-serverless:GetJobRun", "states:DescribeExecution",
  ]
  job_look_statements = [
    for each in local.job_statements : merge(each, { Action = setintersection(each.Action, local.job_looks) })
    if length(setintersection(each.Action, local.job_looks)) > 0
  ]

  job_statements = flatten([
    for type, rights in local.job_rights : [
      for right in rights : { Effect = "Allow", Action = right.actions, Resource = right.resources }
      if length(right.resources) > 0
    ] if local.job_types[type].enabled
  ])
}

resource "terraform_data" "jobs" {
  for_each = local.job_types

  input = each.value.enabled

  lifecycle {
    precondition {
      condition     = !each.value.enabled || length(each.value.arns) > 0
      error_message = "enable_${each.key}_trigger needs ${each.value.list}: list what may be started."
    }
    precondition {
      condition     = each.value.enabled || length(concat(each.value.arns, each.value.roles)) == 0
      error_message = "${join(" and ", [for name, given in { (each.value.list) = each.value.arns, "${each.key}_role_arns" = each.value.roles } : name if length(given) > 0])} without enable_${each.key}_trigger allows nothing: set it to true."
    }
    precondition {
      condition     = each.key != "emr_serverless" || !each.value.enabled || length(var.emr_serverless_role_arns) > 0
      error_message = "enable_emr_serverless_trigger needs emr_serverless_role_arns: a job there always has a role."
    }
    precondition {
      condition     = !anytrue([for arn in each.value.arns : endswith(arn, ":*") || arn == local.machine_arn || contains(values(local.function_arns), arn)])
      error_message = "${each.value.list} must list jobs one by one, without Interlock's own resources."
    }
  }
}
