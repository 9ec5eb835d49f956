locals {
  function_list = ["stream-router", "orchestrator", "sla-monitor", "watchdog", "event-sink", "alert-dispatcher"]

  functions = {
    stream-router    = { timeout = 60, environment = merge(local.state, local.timers, local.engine) }
    orchestrator     = { timeout = var.orchestrator_timeout_seconds, environment = merge(local.state, local.timeout, local.jobs) }
    sla-monitor      = { timeout = 60, environment = merge(local.state, local.timers, local.jobs) }
    watchdog         = { timeout = 240, environment = merge(local.state, local.timers, local.engine, local.instance, local.dead_man) }
    event-sink       = { timeout = 30, environment = local.event_log }
    alert-dispatcher = { timeout = 60, environment = merge(local.event_log, local.alerting) }
  }

  # The environment, by what it is for.
  state = {
    CONTROL_TABLE  = local.table_names.control
    JOBLOG_TABLE   = local.table_names.joblog
    EVENT_BUS_NAME = local.bus_name
  }
  scheduling = {
    SCHEDULER_GROUP_NAME  = local.timer_group
    SCHEDULER_ROLE_ARN    = local.scheduler_role_arn
    UNDELIVERED_QUEUE_ARN = local.queue_arns["undelivered"]
  }
  timers  = merge(local.scheduling, { SLA_MONITOR_ARN = local.function_arns["sla-monitor"] })
  timeout = { SFN_TIMEOUT_SECONDS = tostring(var.sfn_timeout_seconds) }
  engine = merge(local.timeout, {
    RERUN_TABLE       = local.table_names.rerun
    STATE_MACHINE_ARN = local.machine_arn
    STREAM_ROUTER_ARN = local.function_arns["stream-router"]
  })
  event_log = {
    EVENTS_TABLE    = local.table_names.events
    EVENTS_TTL_DAYS = tostring(var.events_table_ttl_days)
  }
  # part of every job's token: a function that looks for a job must spell it as the one that launched it
  instance = { INTERLOCK_INSTANCE = local.name }
  outgoing = merge(
    local.instance,
    { for hosts in [join(",", var.allow_hosts)] : "INTERLOCK_ALLOW_HOSTS" => hosts if hosts != "" },
  )
  jobs     = merge(local.outgoing, var.job_environment)
  dead_man = { for url in [var.dead_man_url] : "DEAD_MAN_URL" => url if url != "" }
  alerting = merge(
    local.outgoing,
    local.scheduling,
    {
      EVENT_BUS_NAME  = local.bus_name
      ALERT_QUEUE_ARN = local.queue_arns["alerts"]
      ALERT_DLQ_URL   = "https://sqs.${local.region}.${data.aws_partition.current.dns_suffix}/${local.account}/${local.queue_names["alerts-dlq"]}"
    },
    { for id in [var.slack_channel_id] : "SLACK_CHANNEL_ID" => id if id != "" },
    { for arn in [local.slack_secret_arn] : "SLACK_SECRET_ARN" => arn if local.has_slack_secret },
    { for token in [var.slack_bot_token] : "SLACK_BOT_TOKEN" => token if token != "" },
    var.alert_environment,
  )
  has_slack_secret = var.create_slack_secret || var.slack_secret_arn != ""
  slack_secret_arn = var.create_slack_secret ? aws_secretsmanager_secret.slack[0].arn : var.slack_secret_arn

  # EventBridge and Scheduler hand over asynchronously: their own dead letters are failed hand-overs, and
  # never a handler that raised. For that, Lambda tries again, and then tells this queue.
  asynchronous = {
    stream-router = { retries = 2, age = 21600 }
    sla-monitor   = { retries = 2, age = 21600 }
    watchdog      = { retries = 0, age = 300 }
    event-sink    = { retries = 2, age = 21600 }
  }

  # Functions may be named with dashes or underscores. One size given applies to every function.
  memory_override = { for name, size in var.lambda_memory : replace(name, "_", "-") => size }
  memory          = { for function in local.function_list : function => lookup(local.memory_override, function, coalesce(var.lambda_memory_size, function == "watchdog" ? 512 : 256)) }
  concurrency     = { for name, number in var.lambda_concurrency : replace(name, "_", "-") => number }

  zip      = "${var.dist_path}/interlock-${var.lambda_architecture}.zip"
  manifest = try(jsondecode(file("${var.dist_path}/manifest.json")), {})
}

resource "aws_cloudwatch_log_group" "function" {
  for_each = local.function_names

  name              = "/aws/lambda/${each.value}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn == "" ? null : var.kms_key_arn
  tags              = local.tags
}

resource "aws_lambda_function" "function" {
  for_each = local.functions

  function_name                  = local.function_names[each.key]
  role                           = aws_iam_role.function[each.key].arn
  runtime                        = "python${try(local.manifest.python, "3.13")}"
  architectures                  = [var.lambda_architecture]
  handler                        = "interlock.lambdas.${replace(each.key, "-", "_")}.handler"
  filename                       = local.zip
  source_code_hash               = fileexists(local.zip) ? filebase64sha256(local.zip) : null
  timeout                        = each.value.timeout
  memory_size                    = local.memory[each.key]
  reserved_concurrent_executions = lookup(local.concurrency, each.key, -1)
  publish                        = each.key == "stream-router"
  kms_key_arn                    = var.kms_key_arn == "" ? null : var.kms_key_arn
  tags                           = local.tags

  environment {
    variables = merge(each.value.environment, {
      ENVIRONMENT             = var.environment
      LOG_LEVEL               = var.log_level
      POWERTOOLS_SERVICE_NAME = local.function_names[each.key]
      PYTHONTZPATH            = "" # zone rules of the package, and not of the runtime: both backends agree
    })
  }

  # LOG_LEVEL alone chooses: a filter here would take metrics for lines of no importance.
  logging_config {
    log_format            = "JSON"
    application_log_level = "TRACE"
    system_log_level      = "INFO"
    log_group             = aws_cloudwatch_log_group.function[each.key].name
  }

  dynamic "tracing_config" {
    for_each = var.enable_tracing ? ["Active"] : []
    content {
      mode = tracing_config.value
    }
  }

  lifecycle {
    precondition {
      condition     = sum([for name, value in each.value.environment : length(name) + length(value)]) < 3800
      error_message = "The environment of ${each.key} is larger than Lambda allows (4 KB): move long values into secrets."
    }
  }

  depends_on = [aws_iam_role_policy.function, terraform_data.package]
}

resource "terraform_data" "package" {
  input = try(local.manifest.sha256, "")

  lifecycle {
    precondition {
      condition     = fileexists("${var.dist_path}/manifest.json") && fileexists(local.zip)
      error_message = "dist_path has no manifest.json and ${basename(local.zip)}: run make package ARCH=${var.lambda_architecture}."
    }
    precondition {
      condition     = try(local.manifest.arch, "") == var.lambda_architecture
      error_message = "The package is for ${try(local.manifest.arch, "another architecture")}: run make package ARCH=${var.lambda_architecture}."
    }
    precondition {
      condition     = try(local.manifest.sha256 == filesha256(local.zip), false)
      error_message = "The zip does not match manifest.json: run make package again."
    }
    precondition {
      condition     = length([for given in [var.slack_secret_arn != "", var.create_slack_secret, nonsensitive(var.slack_bot_token != "")] : given if given]) <= 1
      error_message = "Set at most one of slack_secret_arn, create_slack_secret and slack_bot_token."
    }
    precondition {
      condition     = var.slack_channel_id != "" || !(local.has_slack_secret || nonsensitive(var.slack_bot_token != ""))
      error_message = "A Slack token needs slack_channel_id."
    }
    precondition {
      condition     = var.slack_channel_id == "" || local.has_slack_secret || nonsensitive(var.slack_bot_token != "")
      error_message = "slack_channel_id needs a Slack token: set slack_secret_arn, create_slack_secret or slack_bot_token."
    }
  }
}

check "slack_token_in_the_state_file" {
  assert {
    condition     = nonsensitive(var.slack_bot_token == "")
    error_message = "slack_bot_token is stored in the state file: for anything but a trial, use slack_secret_arn or create_slack_secret."
  }
}

resource "aws_lambda_function_event_invoke_config" "function" {
  for_each = local.asynchronous

  function_name                = aws_lambda_function.function[each.key].function_name
  maximum_retry_attempts       = each.value.retries
  maximum_event_age_in_seconds = each.value.age

  destination_config {
    on_failure {
      destination = local.queue_arns["undelivered"]
    }
  }

  depends_on = [aws_sqs_queue.queue]
}

# A secret for the operator to fill: its value never passes through here.
resource "aws_secretsmanager_secret" "slack" {
  count = var.create_slack_secret ? 1 : 0

  name        = "${local.name}-slack"
  description = "Slack's bot token for Interlock (${var.environment})"
  kms_key_id  = var.kms_key_arn == "" ? null : var.kms_key_arn
  tags        = local.tags
}
