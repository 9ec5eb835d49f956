resource "aws_cloudwatch_log_group" "machine" {
  name              = "/aws/vendedlogs/states/${local.machine_name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn == "" ? null : var.kms_key_arn
  tags              = local.tags

  lifecycle {
    precondition {
      condition     = !var.sfn_log_execution_data || var.sfn_log_level != "OFF"
      error_message = "sfn_log_execution_data needs a sfn_log_level other than OFF."
    }
  }
}

resource "aws_sfn_state_machine" "pipeline" {
  name     = local.machine_name
  role_arn = aws_iam_role.machine.arn
  type     = "STANDARD"
  tags     = local.tags

  definition = templatefile("${path.module}/../statemachine.asl.json", {
    orchestrator_arn     = local.function_arns["orchestrator"]
    sla_monitor_arn      = local.function_arns["sla-monitor"]
    sfn_timeout_seconds  = var.sfn_timeout_seconds
    trigger_max_attempts = var.trigger_max_attempts
  })

  logging_configuration {
    level                  = var.sfn_log_level
    include_execution_data = var.sfn_log_execution_data
    log_destination        = "${aws_cloudwatch_log_group.machine.arn}:*"
  }

  tracing_configuration {
    enabled = var.enable_tracing
  }

  depends_on = [aws_iam_role_policy.machine, aws_lambda_function.function]
}
