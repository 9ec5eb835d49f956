output "table_names" {
  description = "The four tables, by content."
  value       = local.table_names
}

output "table_arns" {
  description = "ARNs of the four tables."
  value       = { for table, state in aws_dynamodb_table.state : table => state.arn }
}

output "event_bus_name" {
  description = "The bus on which every event is published: add your own rules to it."
  value       = aws_cloudwatch_event_bus.events.name
}

output "event_bus_arn" {
  description = "ARN of the bus."
  value       = aws_cloudwatch_event_bus.events.arn
}

output "state_machine_name" {
  description = "The state machine that runs attempts."
  value       = local.machine_name
}

output "state_machine_arn" {
  description = "ARN of the state machine."
  value       = aws_sfn_state_machine.pipeline.arn
}

output "function_names" {
  description = "The six functions."
  value       = local.function_names
}

output "function_arns" {
  description = "ARNs of the six functions."
  value       = { for function, made in aws_lambda_function.function : function => made.arn }
}

output "function_role_names" {
  description = "Roles of the functions, for your own policies."
  value       = { for function, role in aws_iam_role.function : function => role.name }
}

output "alert_queue_arn" {
  description = "The queue that the alert dispatcher reads."
  value       = aws_sqs_queue.queue["alerts"].arn
}

output "alert_queue_url" {
  description = "URL of that queue."
  value       = aws_sqs_queue.queue["alerts"].url
}

output "dead_letter_queue_arns" {
  description = "Queues for undelivered messages."
  value       = { for queue, made in aws_sqs_queue.queue : queue => made.arn if queue != "alerts" }
}

output "scheduler_group_name" {
  description = "The group of the timers."
  value       = aws_scheduler_schedule_group.timers.name
}

output "log_group_names" {
  description = "Log groups of the functions and of the state machine."
  value = merge(
    { for function, group in aws_cloudwatch_log_group.function : function => group.name },
    { state-machine = aws_cloudwatch_log_group.machine.name },
  )
}

output "alarm_names" {
  description = "Every alarm."
  value = concat(
    [for alarm in aws_cloudwatch_metric_alarm.alarm : alarm.alarm_name],
    [aws_cloudwatch_metric_alarm.watchdog_silent.alarm_name],
  )
}

output "slack_secret_arn" {
  description = "The secret with Slack's bot token, if there is one."
  value       = local.slack_secret_arn
}

output "pipelines" {
  description = "The hash of each loaded pipeline."
  value       = { for id, entry in local.pipelines : id => entry.hash }
}

output "sensor_writer_policy_json" {
  description = "For producers: a policy that lets its holder write readings of one pipeline, by pipeline."
  value = {
    for id, entry in local.pipelines : id => jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect    = "Allow"
        Action    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Resource  = local.table_arns.control
        Condition = { "ForAllValues:StringEquals" = { "dynamodb:LeadingKeys" = ["PIPELINE#${id}"] } }
      }]
    })
  }
}

output "viewer_policy_json" {
  description = "For viewers: a policy for interlock serve --backend aws --read-only, and for commands that only read."
  value = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Sid      = "Tables"
          Effect   = "Allow"
          Action   = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive"]
          Resource = concat(values(local.table_arns), ["${local.table_arns.control}/index/watch", "${local.table_arns.events}/index/GSI1"])
        },
        {
          Sid      = "Doctor"
          Effect   = "Allow"
          Action   = ["events:DescribeEventBus", "states:DescribeStateMachine", "scheduler:GetScheduleGroup", "lambda:GetFunctionConfiguration", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
          Resource = concat([local.bus_arn, local.machine_arn, local.timer_group_arn], values(local.function_arns), values(local.queue_arns))
        },
      ],
      var.kms_key_arn == "" ? [] : [{
        Sid      = "Key"
        Effect   = "Allow"
        Action   = ["kms:Decrypt"]
        Resource = [var.kms_key_arn]
      }],
    )
  })
}

output "kms_key_policy_json" {
  description = "Statements that the policy of kms_key_arn needs: without them no alerts and no logs arrive."
  value = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "InterlockRules"
        Effect    = "Allow"
        Principal = { Service = "events.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = "*"
        Condition = { StringEquals = { "aws:SourceAccount" = local.account } }
      },
      {
        Sid       = "InterlockLogs"
        Effect    = "Allow"
        Principal = { Service = "logs.${local.region}.amazonaws.com" }
        Action    = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
        Resource  = "*"
        Condition = { ArnLike = { "kms:EncryptionContext:aws:logs:arn" = "arn:${local.partition}:logs:${local.in_region}:*" } }
      },
    ]
  })
}

output "interlock_toml" {
  description = "The [aws] section of interlock.toml for commands with --backend aws."
  value       = <<-EOT
    [aws]
    region = "${local.region}"
    environment = "${var.environment}"
    control_table = "${local.table_names.control}"
    joblog_table = "${local.table_names.joblog}"
    rerun_table = "${local.table_names.rerun}"
    events_table = "${local.table_names.events}"
    event_bus_name = "${local.bus_name}"
    state_machine_arn = "${local.machine_arn}"
    sfn_timeout_seconds = ${var.sfn_timeout_seconds}
    scheduler_group_name = "${local.timer_group}"
    scheduler_role_arn = "${local.scheduler_role_arn}"
    undelivered_queue_arn = "${local.queue_arns["undelivered"]}"
    sla_monitor_arn = "${local.function_arns["sla-monitor"]}"
    stream_router_arn = "${local.function_arns["stream-router"]}"
  EOT
}
