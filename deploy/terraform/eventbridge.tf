resource "aws_cloudwatch_event_bus" "events" {
  name = local.bus_name
  tags = local.tags
}

locals {
  publishers = concat(
    [for function in ["stream-router", "orchestrator", "sla-monitor", "watchdog", "alert-dispatcher"] : local.function_role_arns[function]],
    var.extra_publisher_arns,
  )

  # Two rules for each prefix: a transformer can't choose the severity.
  alarm_rules = {
    alarm-raised      = { prefix = "${local.name}-alarm-", state = "ALARM", severity = "error" }
    alarm-cleared     = { prefix = "${local.name}-alarm-", state = "OK", severity = "info" }
    alertpath-raised  = { prefix = "${local.name}-alertpath-", state = "ALARM", severity = "error" }
    alertpath-cleared = { prefix = "${local.name}-alertpath-", state = "OK", severity = "info" }
  }
  # A failure of the alert path is not reported through that path.
  alerted_rules = { for rule, about in local.alarm_rules : rule => about if startswith(rule, "alarm-") }

  # A whole envelope, as one of ours. Free text stands alone, unquoted: EventBridge quotes it.
  alarm_paths = {
    alarm  = "$.detail.alarmName"
    state  = "$.detail.state.value"
    reason = "$.detail.state.reason"
    time   = "$.time"
  }
  alarm_templates = {
    for rule, about in local.alarm_rules : rule => <<-EOT
      {
        "id": "-/-/-/INFRA_ALARM/<alarm>/<time>",
        "source": "interlock",
        "detail-type": "INFRA_ALARM",
        "time": "<time>",
        "detail": {
          "eventId": "-/-/-/INFRA_ALARM/<alarm>/<time>",
          "severity": "${about.severity}",
          "timestamp": "<time>",
          "detail": {"alarmName": "<alarm>", "alarmState": "<state>", "reason": <reason>}
        }
      }
    EOT
  }
}

# No other principal may publish completions.
resource "aws_cloudwatch_event_bus_policy" "events" {
  event_bus_name = aws_cloudwatch_event_bus.events.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Publishers"
        Effect    = "Allow"
        Principal = { AWS = local.publishers }
        Action    = "events:PutEvents"
        Resource  = local.bus_arn
      },
      {
        Sid       = "NobodyElseAsInterlock"
        Effect    = "Deny"
        Principal = "*"
        Action    = "events:PutEvents"
        Resource  = local.bus_arn
        Condition = {
          StringEquals = { "events:source" = "interlock" }
          ArnNotEquals = { "aws:PrincipalArn" = local.publishers }
        }
      },
    ]
  })

  depends_on = [aws_iam_role.function]
}

# --- our events: all of them into the table, all of them to the dispatcher, whose routes decide

resource "aws_cloudwatch_event_rule" "ours" {
  for_each = {
    all-events = "Every event of Interlock, into the events table"
    alerts     = "Every event of Interlock, to the alert dispatcher; the routes decide"
  }

  name           = "${local.name}-${each.key}"
  description    = each.value
  event_bus_name = aws_cloudwatch_event_bus.events.name
  event_pattern  = jsonencode({ source = ["interlock"] })
  tags           = local.tags
}

resource "aws_cloudwatch_event_target" "ours" {
  for_each = {
    all-events = local.function_arns["event-sink"]
    alerts     = local.queue_arns["alerts"]
  }

  rule           = aws_cloudwatch_event_rule.ours[each.key].name
  event_bus_name = aws_cloudwatch_event_bus.events.name
  arn            = each.value

  dead_letter_config {
    arn = local.queue_arns["undelivered"]
  }
  retry_policy {
    maximum_event_age_in_seconds = 86400
    maximum_retry_attempts       = 185
  }

  depends_on = [aws_lambda_function.function, aws_sqs_queue.queue]
}

# --- the watchdog; schedules exist on the default bus only

locals {
  # How often a cron expression comes is not known here: the watchdog counts as silent after three passes.
  watchdog_rate  = try(regex("^rate\\(([0-9]+) (minute|hour|day)s?\\)$", var.watchdog_schedule), null)
  watchdog_every = local.watchdog_rate == null ? floor(var.watchdog_silence_seconds / 3) : local.watchdog_rate[0] * { minute = 60, hour = 3600, day = 86400 }[local.watchdog_rate[1]]
}

resource "aws_cloudwatch_event_rule" "watchdog" {
  name                = "${local.name}-watchdog"
  description         = "Runs the watchdog"
  schedule_expression = var.watchdog_schedule
  tags                = local.tags

  lifecycle {
    precondition {
      condition     = local.watchdog_every < var.watchdog_silence_seconds
      error_message = "watchdog_schedule is ${var.watchdog_schedule}: watchdog_silence_seconds must be more than ${local.watchdog_every}, or the alarm never ends."
    }
  }
}

resource "aws_cloudwatch_event_target" "watchdog" {
  rule  = aws_cloudwatch_event_rule.watchdog.name
  arn   = local.function_arns["watchdog"]
  input = jsonencode({ source = "schedule", everySeconds = local.watchdog_every })

  dead_letter_config {
    arn = local.queue_arns["undelivered"]
  }
  retry_policy {
    maximum_event_age_in_seconds = 300
    maximum_retry_attempts       = 2
  }

  depends_on = [aws_lambda_function.function, aws_sqs_queue.queue]
}

# --- executions that ended badly: the watchdog attends to their runs at once, and not in its next pass

resource "aws_cloudwatch_event_rule" "executions" {
  name        = "${local.name}-executions"
  description = "Executions that ended before their run did"
  event_pattern = jsonencode({
    source      = ["aws.states"]
    detail-type = ["Step Functions Execution Status Change"]
    detail      = { stateMachineArn = [local.machine_arn], status = ["FAILED", "TIMED_OUT", "ABORTED"] }
  })
  tags = local.tags
}

resource "aws_cloudwatch_event_target" "executions" {
  rule = aws_cloudwatch_event_rule.executions.name
  arn  = local.function_arns["watchdog"]

  dead_letter_config {
    arn = local.queue_arns["undelivered"]
  }
  retry_policy {
    maximum_event_age_in_seconds = 300
    maximum_retry_attempts       = 2
  }

  depends_on = [aws_lambda_function.function, aws_sqs_queue.queue]
}

# --- alarms of CloudWatch as events of ours

resource "aws_cloudwatch_event_rule" "alarm" {
  for_each = local.alarm_rules

  name        = "${local.name}-${each.key}"
  description = "Alarms ${each.value.prefix}* that went to ${each.value.state}"
  event_pattern = jsonencode({
    source      = ["aws.cloudwatch"]
    detail-type = ["CloudWatch Alarm State Change"]
    detail      = { alarmName = [{ prefix = each.value.prefix }], state = { value = [each.value.state] } }
  })
  tags = local.tags
}

resource "aws_cloudwatch_event_target" "alarm_kept" {
  for_each = local.alarm_rules

  rule = aws_cloudwatch_event_rule.alarm[each.key].name
  arn  = local.function_arns["event-sink"]

  input_transformer {
    input_paths    = local.alarm_paths
    input_template = local.alarm_templates[each.key]
  }
  dead_letter_config {
    arn = local.queue_arns["undelivered"]
  }
  retry_policy {
    maximum_event_age_in_seconds = 86400
    maximum_retry_attempts       = 185
  }

  depends_on = [aws_lambda_function.function, aws_sqs_queue.queue]
}

resource "aws_cloudwatch_event_target" "alarm_told" {
  for_each = local.alerted_rules

  rule = aws_cloudwatch_event_rule.alarm[each.key].name
  arn  = local.queue_arns["alerts"]

  input_transformer {
    input_paths    = local.alarm_paths
    input_template = local.alarm_templates[each.key]
  }
  dead_letter_config {
    arn = local.queue_arns["undelivered"]
  }
  retry_policy {
    maximum_event_age_in_seconds = 86400
    maximum_retry_attempts       = 185
  }

  depends_on = [aws_sqs_queue.queue]
}

resource "aws_lambda_permission" "rule" {
  for_each = merge(
    { for rule in concat(["all-events"], keys(local.alarm_rules)) : rule => "event-sink" },
    { for rule in ["watchdog", "executions"] : rule => "watchdog" },
  )

  statement_id  = "rule-${each.key}"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.function[each.value].function_name
  principal     = "events.amazonaws.com"
  source_arn    = local.rule_arns[each.key]
}
