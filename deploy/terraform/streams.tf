locals {
  # Only rows written by others wake the router: our own bookkeeping has other keys.
  streams = {
    control = [
      {
        eventName = ["INSERT", "MODIFY"]
        dynamodb  = { Keys = { SK = { S = [{ prefix = "SENSOR#" }, { prefix = "RERUN_REQUEST#" }] } } }
      },
      { dynamodb = { Keys = { SK = { S = ["CONFIG"] } } } },
    ]
    joblog = [
      {
        eventName = ["INSERT", "MODIFY"]
        dynamodb  = { Keys = { SK = { S = [{ prefix = "JOB#" }] } } }
      },
    ]
  }
}

# One alias for each stream, so that each has metrics of its own.
resource "aws_lambda_alias" "stream" {
  for_each = local.streams

  name             = each.key
  description      = "The function that the stream of the table ${each.key} invokes"
  function_name    = aws_lambda_function.function["stream-router"].function_name
  function_version = aws_lambda_function.function["stream-router"].version
}

resource "aws_lambda_event_source_mapping" "stream" {
  for_each = local.streams

  event_source_arn                   = aws_dynamodb_table.state[each.key].stream_arn
  function_name                      = aws_lambda_alias.stream[each.key].arn
  starting_position                  = "TRIM_HORIZON"
  batch_size                         = 10
  maximum_batching_window_in_seconds = 0
  parallelization_factor             = var.stream_parallelization_factor
  bisect_batch_on_function_error     = true
  maximum_retry_attempts             = 3
  maximum_record_age_in_seconds      = 86400
  function_response_types            = ["ReportBatchItemFailures"]
  tags                               = local.tags

  filter_criteria {
    dynamic "filter" {
      for_each = each.value
      content {
        pattern = jsonencode(filter.value)
      }
    }
  }

  destination_config {
    on_failure {
      destination_arn = local.queue_arns["${each.key}-dlq"]
    }
  }

  # A stream is opened last: what its first records set going, or tell of, must find everything there.
  depends_on = [
    aws_iam_role_policy.function,
    aws_iam_role_policy.scheduler,
    aws_sfn_state_machine.pipeline,
    aws_scheduler_schedule_group.timers,
    aws_cloudwatch_event_target.ours,
    aws_lambda_permission.rule,
    aws_sqs_queue.queue,
    aws_lambda_event_source_mapping.alerts,
  ]
}

resource "aws_lambda_event_source_mapping" "alerts" {
  event_source_arn        = aws_sqs_queue.queue["alerts"].arn
  function_name           = aws_lambda_function.function["alert-dispatcher"].arn
  batch_size              = 10
  function_response_types = ["ReportBatchItemFailures"]
  tags                    = local.tags

  scaling_config {
    maximum_concurrency = 2
  }

  depends_on = [aws_iam_role_policy.function]
}
