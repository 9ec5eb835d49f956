locals {
  by_function = { for function, name in local.function_names : function => { FunctionName = name } }
  by_machine  = { StateMachineArn = local.machine_arn }

  errors = {
    for function in local.function_list :
    (function == "alert-dispatcher" ? "alertpath-${function}-errors" : "alarm-${function}-errors") => {
      about     = "${function} raised an error", namespace = "AWS/Lambda", metric = "Errors"
      statistic = "Sum", threshold = 1, dimensions = local.by_function[function]
    }
  }
  dead_letters = {
    for alarm, queue in {
      alarm-control-dlq = "control-dlq", alarm-joblog-dlq = "joblog-dlq", alertpath-dlq = "alerts-dlq"
      alarm-undelivered = "undelivered"
      } : alarm => {
      about     = "something lies in ${queue}", namespace = "AWS/SQS", metric = "ApproximateNumberOfMessagesVisible"
      statistic = "Maximum", threshold = 1, dimensions = { QueueName = local.queue_names[queue] }
    }
  }
  ages = {
    for table in keys(local.streams) : "alarm-${table}-age" => {
      about     = "the stream of ${table} is handled five minutes late", namespace = "AWS/Lambda", metric = "IteratorAge"
      statistic = "Maximum", threshold = 300000
      dimensions = {
        FunctionName = local.function_names["stream-router"]
        Resource     = "${local.function_names["stream-router"]}:${table}"
      }
    }
  }
  others = {
    alarm-sfn-failed = {
      about     = "an execution failed", namespace = "AWS/States", metric = "ExecutionsFailed"
      statistic = "Sum", threshold = 1, dimensions = local.by_machine
    }
    alarm-sfn-timed-out = {
      about     = "an execution ran out of time", namespace = "AWS/States", metric = "ExecutionsTimedOut"
      statistic = "Sum", threshold = 1, dimensions = local.by_machine
    }
    alertpath-age = {
      about     = "an alert waits for a quarter of an hour", namespace = "AWS/SQS", metric = "ApproximateAgeOfOldestMessage"
      statistic = "Maximum", threshold = 900, dimensions = { QueueName = local.queue_names["alerts"] }
    }
  }
  alarms        = merge(local.errors, local.dead_letters, local.ages, local.others)
  alarm_actions = var.sns_alarm_topic_arn == "" ? [] : [var.sns_alarm_topic_arn]
}

resource "aws_cloudwatch_metric_alarm" "alarm" {
  for_each = local.alarms

  alarm_name          = "${local.name}-${each.key}"
  alarm_description   = "Interlock ${var.environment}: ${each.value.about}"
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = each.value.threshold
  period              = 300
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.alarm_actions
  ok_actions          = local.alarm_actions
  tags                = local.tags
}

# A pass that breaks off half-way counts as silence: the metric is written at its end.
resource "aws_cloudwatch_metric_alarm" "watchdog_silent" {
  alarm_name          = "${local.name}-alarm-watchdog-silent"
  alarm_description   = "Interlock ${var.environment}: the watchdog has not finished a pass"
  namespace           = "Interlock"
  metric_name         = "WatchdogPass"
  dimensions          = { environment = var.environment }
  statistic           = "Sum"
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  period              = 300
  evaluation_periods  = var.watchdog_silence_seconds / 300
  treat_missing_data  = "breaching"
  alarm_actions       = local.alarm_actions
  ok_actions          = local.alarm_actions
  tags                = local.tags
}

check "alarms_reach_somebody" {
  assert {
    condition     = var.sns_alarm_topic_arn != ""
    error_message = "Without sns_alarm_topic_arn, no one receives alarms about the alert path itself."
  }
}
