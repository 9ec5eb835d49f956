# What each role may do. No rights to delete or to scan, no managed policies, and no `*` where AWS knows
# resources. Tests hold this against the calls that the code makes, both ways.

locals {
  # DynamoDB, by function and by table; a slash names an index. A transaction needs the rights of its parts.
  rows  = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
  added = ["dynamodb:Query", "dynamodb:PutItem"]
  table_rights = {
    stream-router = { control = concat(local.rows, ["dynamodb:Query"]), rerun = local.added }
    orchestrator  = { control = concat(local.rows, ["dynamodb:Query"]), joblog = local.added }
    sla-monitor   = { control = local.rows, joblog = local.added }
    watchdog = {
      control         = concat(local.rows, ["dynamodb:Query"])
      "control/watch" = ["dynamodb:Query"]
      joblog          = local.added
      rerun           = local.added
    }
    event-sink       = { events = ["dynamodb:PutItem"] }
    alert-dispatcher = { events = concat(local.rows, ["dynamodb:Query"]) }
  }
  table_statements = {
    for function, rights in local.table_rights : function => [
      for place, actions in rights : {
        Effect   = "Allow"
        Action   = actions
        Resource = join("/index/", concat([local.table_arns[split("/", place)[0]]], slice(split("/", place), 1, length(split("/", place)))))
      }
    ]
  }

  # Everything else, by what it is for.
  publish = [{ Effect = "Allow", Action = ["events:PutEvents"], Resource = local.bus_arn }]
  start   = [{ Effect = "Allow", Action = ["states:StartExecution"], Resource = local.machine_arn }]
  look_up = [
    { Effect = "Allow", Action = ["states:ListExecutions"], Resource = local.machine_arn },
    { Effect = "Allow", Action = ["states:DescribeExecution"], Resource = local.executions_arn },
  ]
  time = [
    {
      Effect   = "Allow"
      Action   = ["scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule"]
      Resource = local.timer_arns
    },
    {
      Effect    = "Allow"
      Action    = ["iam:PassRole"]
      Resource  = local.scheduler_role_arn
      Condition = { StringEquals = { "iam:PassedToService" = "scheduler.amazonaws.com" } }
    },
  ]
  tell_undelivered = [{ Effect = "Allow", Action = ["sqs:SendMessage"], Resource = local.queue_arns["undelivered"] }]
  follow_streams = [
    {
      Effect   = "Allow"
      Action   = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
      Resource = [for table in keys(local.streams) : "${local.table_arns[table]}/stream/*"]
    },
    { Effect = "Allow", Action = ["dynamodb:ListStreams"], Resource = "*" }, # it has no resources
    {
      Effect   = "Allow"
      Action   = ["sqs:SendMessage"]
      Resource = [for table in keys(local.streams) : local.queue_arns["${table}-dlq"]]
    },
  ]
  take_alerts = [
    {
      Effect = "Allow"
      Action = [
        "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes",
      ]
      Resource = local.queue_arns["alerts"]
    },
    { Effect = "Allow", Action = ["sqs:SendMessage"], Resource = local.queue_arns["alerts-dlq"] },
  ]
  read_alert_secrets = [
    for arns in [concat([for arn in [local.slack_secret_arn] : arn if local.has_slack_secret], var.alert_secret_arns)] :
    { Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = arns } if length(var.alert_secret_arns) > 0 || local.has_slack_secret
  ]
  read_job_secrets = [
    for arns in [var.job_secret_arns] :
    { Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = arns } if length(arns) > 0
  ]
  trace = [
    for actions in [["xray:PutTraceSegments", "xray:PutTelemetryRecords"]] :
    { Effect = "Allow", Action = actions, Resource = "*" } if var.enable_tracing # it has no resources
  ]
  use_key = [
    for key in [var.kms_key_arn] :
    { Effect = "Allow", Action = ["kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey"], Resource = key } if key != ""
  ]

  function_statements = {
    stream-router    = concat(local.follow_streams, local.start, local.publish, local.time, local.tell_undelivered)
    orchestrator     = concat(local.publish, local.read_job_secrets, local.job_statements)
    sla-monitor      = concat(local.publish, local.time, local.tell_undelivered, local.read_job_secrets, local.job_look_statements)
    watchdog         = concat(local.start, local.look_up, local.publish, local.time, local.tell_undelivered)
    event-sink       = local.tell_undelivered
    alert-dispatcher = concat(local.take_alerts, local.publish, local.time, local.read_alert_secrets)
  }
}

resource "aws_iam_role" "function" {
  for_each = local.function_names

  name = each.value
  tags = local.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })
}

resource "aws_iam_role_policy" "function" {
  for_each = local.function_names

  name = "interlock"
  role = aws_iam_role.function[each.key].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [{
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "arn:${local.partition}:logs:${local.in_region}:log-group:/aws/lambda/${each.value}:*"
      }],
      local.table_statements[each.key],
      local.function_statements[each.key],
      local.trace,
      local.use_key,
    )
  })
}

resource "aws_iam_role" "machine" {
  name = local.machine_name
  tags = local.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "states.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
    }]
  })
}

resource "aws_iam_role_policy" "machine" {
  name = "interlock"
  role = aws_iam_role.machine.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Effect   = "Allow"
          Action   = ["lambda:InvokeFunction"]
          Resource = [local.function_arns["orchestrator"], local.function_arns["sla-monitor"]]
        },
        {
          Effect = "Allow"
          Action = [
            "logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery", "logs:DeleteLogDelivery",
            "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:DescribeResourcePolicies",
            "logs:DescribeLogGroups",
          ]
          Resource = "*" # the delivery of logs has no resources
        },
      ],
      [
        for actions in [["xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"]] :
        { Effect = "Allow", Action = actions, Resource = "*" } if var.enable_tracing
      ],
      local.use_key,
    )
  })
}

resource "aws_iam_role" "scheduler" {
  name = local.scheduler_role
  tags = local.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "scheduler.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:SourceAccount" = local.account, "aws:SourceArn" = local.timer_group_arn } }
    }]
  })
}

resource "aws_iam_role_policy" "scheduler" {
  name = "interlock"
  role = aws_iam_role.scheduler.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Effect   = "Allow"
          Action   = ["lambda:InvokeFunction"]
          Resource = [local.function_arns["stream-router"], local.function_arns["sla-monitor"]]
        },
        {
          Effect   = "Allow"
          Action   = ["sqs:SendMessage"]
          Resource = [local.queue_arns["alerts"], local.queue_arns["undelivered"]]
        },
      ],
      local.use_key,
    )
  })
}
