locals {
  rules_arn = "arn:${local.partition}:events:${local.in_region}:rule"
  rule_arns = merge(
    { for rule in ["all-events", "alerts"] : rule => "${local.rules_arn}/${local.bus_name}/${local.name}-${rule}" },
    { for rule in concat(["watchdog", "executions"], keys(local.alarm_rules)) : rule => "${local.rules_arn}/${local.name}-${rule}" },
  )

  # Who may send there: rules with that target, or rules that could not deliver. Functions, Scheduler and
  # the mappings send with the rights of their roles.
  queue_senders = {
    alerts      = [for rule in ["alerts", "alarm-raised", "alarm-cleared"] : local.rule_arns[rule]]
    alerts-dlq  = []
    control-dlq = []
    joblog-dlq  = []
    undelivered = values(local.rule_arns)
  }
}

resource "aws_sqs_queue" "queue" {
  for_each = local.queue_names

  name                       = each.value
  message_retention_seconds  = each.key == "alerts" ? 345600 : 1209600
  visibility_timeout_seconds = each.key == "alerts" ? 6 * local.functions["alert-dispatcher"].timeout : 30
  sqs_managed_sse_enabled    = var.kms_key_arn == "" ? true : null
  kms_master_key_id          = var.kms_key_arn == "" ? null : var.kms_key_arn
  tags                       = local.tags

  # With the queue itself, so that it is never there without.
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [{
        Sid       = "OnlyOverTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = local.queue_arns[each.key]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }],
      [
        for senders in [local.queue_senders[each.key]] : {
          Sid       = "OurRules"
          Effect    = "Allow"
          Principal = { Service = "events.amazonaws.com" }
          Action    = "sqs:SendMessage"
          Resource  = local.queue_arns[each.key]
          Condition = { ArnEquals = { "aws:SourceArn" = senders } }
        } if length(senders) > 0
      ],
    )
  })
}

# A message put back for pacing counts as a receive: giving up is the dispatcher's own decision, and this is
# for the message that it can't even look at. It stands apart because its target must be there first.
resource "aws_sqs_queue_redrive_policy" "alerts" {
  queue_url = aws_sqs_queue.queue["alerts"].id
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.queue["alerts-dlq"].arn
    maxReceiveCount     = 100
  })
}
