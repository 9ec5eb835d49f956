variable "environment" {
  description = "Prefix of every resource name: {environment}-interlock-..."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}$", var.environment))
    error_message = "environment must be a lower-case letter, followed by up to 19 lower-case letters, digits or dashes."
  }
}

variable "account_id" {
  description = "The AWS account; empty: looked up through the provider. If it is set, a plan needs no network."
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^([0-9]{12})?$", var.account_id))
    error_message = "account_id must have 12 digits."
  }
}

variable "dist_path" {
  description = "The folder that `make package` writes: the zip and manifest.json."
  type        = string
}

variable "pipelines_path" {
  description = "The folder of the pipeline files; only used to check that compiled_config_path, which must be set too, is up to date."
  type        = string
  default     = ""
}

variable "calendars_path" {
  description = "The folder of the calendar files; only used to check that compiled_config_path, which must be set too, is up to date."
  type        = string
  default     = ""
}

variable "compiled_config_path" {
  description = "The file that `interlock compile` wrote; empty: no pipelines are loaded."
  type        = string
  default     = ""
}

variable "lambda_architecture" {
  description = "Architecture of the functions: arm64 or x86_64. The package must be built for it."
  type        = string
  default     = "arm64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.lambda_architecture)
    error_message = "lambda_architecture must be arm64 or x86_64."
  }
}

variable "lambda_memory_size" {
  description = "Memory of every function in MB; null: 256, and 512 for the watchdog. Lambda gives processor time in proportion."
  type        = number
  default     = null

  validation {
    condition = var.lambda_memory_size == null ? true : (
      var.lambda_memory_size >= 128 && var.lambda_memory_size <= 10240 && floor(var.lambda_memory_size) == var.lambda_memory_size
    )
    error_message = "lambda_memory_size must be a whole number from 128 to 10240."
  }
}

variable "lambda_memory" {
  description = "Memory by function, where it differs from lambda_memory_size; names as in lambda_concurrency."
  type        = map(number)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for size in values(var.lambda_memory) : size >= 128 && size <= 10240 && floor(size) == size])
    error_message = "lambda_memory must be a whole number from 128 to 10240 for each function."
  }
  validation {
    condition = length(setsubtract([for name in keys(var.lambda_memory) : replace(name, "_", "-")], [
      "stream-router", "orchestrator", "sla-monitor", "watchdog", "event-sink", "alert-dispatcher",
    ])) == 0
    error_message = "lambda_memory must name functions: stream-router, orchestrator, sla-monitor, watchdog, event-sink, alert-dispatcher."
  }
  validation {
    condition     = length(distinct([for name in keys(var.lambda_memory) : replace(name, "_", "-")])) == length(var.lambda_memory)
    error_message = "lambda_memory names a function twice: once with dashes, once with underscores."
  }
}

variable "orchestrator_timeout_seconds" {
  description = "How long one call of the orchestrator may take; a synchronous job gets the time left."
  type        = number
  default     = 300

  validation {
    condition     = var.orchestrator_timeout_seconds >= 60 && var.orchestrator_timeout_seconds <= 900 && floor(var.orchestrator_timeout_seconds) == var.orchestrator_timeout_seconds
    error_message = "orchestrator_timeout_seconds must be a whole number from 60 to 900."
  }
}

variable "lambda_concurrency" {
  description = "Reserved concurrency by function (stream-router or stream_router, ...); -1 reserves none. Small accounts can't reserve any."
  type        = map(number)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for number in values(var.lambda_concurrency) : floor(number) == number && (number == -1 || number >= 1)])
    error_message = "lambda_concurrency must be -1 (none reserved) or a whole number of at least 1."
  }
  validation {
    condition = length(setsubtract([for name in keys(var.lambda_concurrency) : replace(name, "_", "-")], [
      "stream-router", "orchestrator", "sla-monitor", "watchdog", "event-sink", "alert-dispatcher",
    ])) == 0
    error_message = "lambda_concurrency must name functions: stream-router, orchestrator, sla-monitor, watchdog, event-sink, alert-dispatcher."
  }
  validation {
    condition     = length(distinct([for name in keys(var.lambda_concurrency) : replace(name, "_", "-")])) == length(var.lambda_concurrency)
    error_message = "lambda_concurrency names a function twice: once with dashes, once with underscores."
  }
}

variable "stream_parallelization_factor" {
  description = "How many batches of one shard are handled at once."
  type        = number
  default     = 1

  validation {
    condition     = var.stream_parallelization_factor >= 1 && var.stream_parallelization_factor <= 10 && floor(var.stream_parallelization_factor) == var.stream_parallelization_factor
    error_message = "stream_parallelization_factor must be a whole number from 1 to 10."
  }
}

variable "log_retention_days" {
  description = "How long CloudWatch keeps the logs."
  type        = number
  default     = 14

  validation {
    condition = contains([
      1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
    ], var.log_retention_days)
    error_message = "log_retention_days must be one of CloudWatch's values: 1, 3, 5, 7, 14, 30, 60, 90, ..."
  }
}

variable "log_level" {
  description = "Lowest level that the functions log: DEBUG, INFO, WARNING, ERROR or CRITICAL."
  type        = string
  default     = "INFO"

  validation {
    condition     = contains(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], var.log_level)
    error_message = "log_level must be DEBUG, INFO, WARNING, ERROR or CRITICAL."
  }
}

variable "enable_tracing" {
  description = "Enable X-Ray on the functions and the state machine."
  type        = bool
  default     = false
}

variable "sfn_log_level" {
  description = "What the state machine logs: OFF, ERROR, FATAL or ALL."
  type        = string
  default     = "ERROR"

  validation {
    condition     = contains(["OFF", "ERROR", "FATAL", "ALL"], var.sfn_log_level)
    error_message = "sfn_log_level must be OFF, ERROR, FATAL or ALL."
  }
}

variable "sfn_log_execution_data" {
  description = "Whether the state machine's logs include inputs and outputs."
  type        = bool
  default     = false
}

variable "sfn_timeout_seconds" {
  description = "How long one attempt may take in total; its lease is half an hour longer."
  type        = number
  default     = 14400

  validation {
    condition     = var.sfn_timeout_seconds >= 300 && var.sfn_timeout_seconds <= 31536000 && floor(var.sfn_timeout_seconds) == var.sfn_timeout_seconds
    error_message = "sfn_timeout_seconds must be a whole number from 300 to 31536000."
  }
}

variable "trigger_max_attempts" {
  description = "How often a launch is retried after an infrastructure failure."
  type        = number
  default     = 3

  validation {
    condition     = var.trigger_max_attempts >= 1 && var.trigger_max_attempts <= 10 && floor(var.trigger_max_attempts) == var.trigger_max_attempts
    error_message = "trigger_max_attempts must be a whole number from 1 to 10."
  }
}

variable "events_table_ttl_days" {
  description = "How long events are kept."
  type        = number
  default     = 90

  validation {
    condition     = var.events_table_ttl_days >= 1 && var.events_table_ttl_days <= 3650 && floor(var.events_table_ttl_days) == var.events_table_ttl_days
    error_message = "events_table_ttl_days must be a whole number from 1 to 3650."
  }
}

variable "watchdog_schedule" {
  description = "How often the watchdog runs: rate(...) or cron(...)."
  type        = string
  default     = "rate(5 minutes)"

  validation {
    condition     = can(regex("^(rate\\((1 (minute|hour|day)|([2-9]|[1-9][0-9]+) (minutes|hours|days))\\)|cron\\(.+\\))$", var.watchdog_schedule))
    error_message = "watchdog_schedule must be rate(1 minute), rate(N minutes), the same with hours or days, or cron(...)."
  }
}

variable "watchdog_silence_seconds" {
  description = "How long the watchdog may go without a complete pass before an alarm is raised."
  type        = number
  default     = 900

  validation {
    condition     = var.watchdog_silence_seconds >= 600 && var.watchdog_silence_seconds <= 86400 && var.watchdog_silence_seconds % 300 == 0
    error_message = "watchdog_silence_seconds must be at least 600, at most 86400 and a multiple of 300."
  }
}

variable "dead_man_url" {
  description = "URL called after each complete pass of the watchdog; an outside monitor there notices silence."
  type        = string
  default     = ""
  sensitive   = true

  validation {
    condition     = var.dead_man_url == "" || startswith(var.dead_man_url, "https://")
    error_message = "dead_man_url must begin with https://."
  }
}

variable "slack_channel_id" {
  description = "The Slack channel for alerts if the alert routes declare no sinks; needs a Slack token."
  type        = string
  default     = ""
}

variable "slack_secret_arn" {
  description = "ARN of the secret with Slack's bot token."
  type        = string
  default     = ""

  validation {
    condition     = var.slack_secret_arn == "" || can(regex("^arn:[a-z0-9-]+:secretsmanager:", var.slack_secret_arn))
    error_message = "slack_secret_arn must be the ARN of a secret in Secrets Manager."
  }
}

variable "create_slack_secret" {
  description = "Create an empty secret for Slack's bot token; you set its value, and Terraform never sees it."
  type        = bool
  default     = false
}

variable "slack_bot_token" {
  description = "Slack's bot token itself. It ends up in the state file: use it only for trials."
  type        = string
  default     = ""
  sensitive   = true
}

variable "alert_routes" {
  description = "Where alerts go, in the format of alerts.yaml; null: as in the compiled file."
  type        = any
  default     = null

  validation {
    condition = var.alert_routes == null ? true : try(
      length(setsubtract(keys(var.alert_routes), ["sinks", "default", "routes", "mutes", "limits"])) == 0, false
    )
    error_message = "alert_routes can have only the parts of alerts.yaml: sinks, default, routes, mutes, limits."
  }
}

variable "job_environment" {
  description = "More environment variables of the orchestrator, for use in pipeline files."
  type        = map(string)
  default     = {}
  sensitive   = true

  validation {
    condition     = alltrue([for name in keys(var.job_environment) : can(regex("^INTERLOCK_[A-Z0-9_]+$", name))])
    error_message = "Names in job_environment must begin with INTERLOCK_."
  }
  validation {
    condition = !anytrue([
      for name in ["TOKEN", "URL", "INSTANCE", "ALLOW_HOSTS", "CA_FILE", "SECRETS_DIR", "WATCHDOG_EVERY"] :
      contains(keys(var.job_environment), "INTERLOCK_${name}")
    ])
    error_message = "job_environment can't set what Interlock sets itself, such as INTERLOCK_INSTANCE and INTERLOCK_ALLOW_HOSTS: use allow_hosts."
  }
}

variable "alert_environment" {
  description = "More environment variables of the alert dispatcher, for use in alert routes."
  type        = map(string)
  default     = {}
  sensitive   = true

  validation {
    condition     = alltrue([for name in keys(var.alert_environment) : can(regex("^INTERLOCK_[A-Z0-9_]+$", name))])
    error_message = "Names in alert_environment must begin with INTERLOCK_."
  }
  validation {
    condition = !anytrue([
      for name in ["TOKEN", "URL", "INSTANCE", "ALLOW_HOSTS", "CA_FILE", "SECRETS_DIR", "WATCHDOG_EVERY"] :
      contains(keys(var.alert_environment), "INTERLOCK_${name}")
    ])
    error_message = "alert_environment can't set what Interlock sets itself, such as INTERLOCK_INSTANCE and INTERLOCK_ALLOW_HOSTS: use allow_hosts."
  }
}

variable "job_secret_arns" {
  description = "Secrets that jobs may refer to as secret://aws-sm/..."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.job_secret_arns : can(regex("^arn:[a-z0-9-]+:secretsmanager:.+:secret:.+$", arn))])
    error_message = "job_secret_arns must be ARNs of secrets in Secrets Manager."
  }
}

variable "alert_secret_arns" {
  description = "Secrets that alert routes may refer to as secret://aws-sm/..."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.alert_secret_arns : can(regex("^arn:[a-z0-9-]+:secretsmanager:.+:secret:.+$", arn))])
    error_message = "alert_secret_arns must be ARNs of secrets in Secrets Manager."
  }
}

variable "allow_hosts" {
  description = "Internal hosts and networks that jobs and webhooks may reach; all other internal ones are refused."
  type        = list(string)
  default     = []

  validation {
    condition = alltrue([
      for host in var.allow_hosts :
      can(regex("^\\[?[0-9A-Za-z._:-]+(/[1-9][0-9]{0,2})?\\]?(:[0-9]{1,5})?$", host))
    ])
    error_message = "Each of allow_hosts must be a host, host:port or network, without *, /0, a scheme or a path."
  }
}

variable "enable_glue_trigger" {
  description = "Whether jobs of type glue may be started; needs glue_job_arns."
  type        = bool
  default     = false
}

variable "glue_job_arns" {
  description = "The Glue jobs that may be started."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.glue_job_arns : can(regex("^arn:[a-z0-9-]+:glue:[^:]*:[0-9]*:job/.+$", arn))])
    error_message = "glue_job_arns must be ARNs of Glue jobs."
  }
}

variable "enable_emr_trigger" {
  description = "Whether jobs of type emr may be started; needs emr_cluster_arns."
  type        = bool
  default     = false
}

variable "emr_cluster_arns" {
  description = "The EMR clusters that may get steps."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.emr_cluster_arns : can(regex("^arn:[a-z0-9-]+:elasticmapreduce:[^:]*:[0-9]*:cluster/.+$", arn))])
    error_message = "emr_cluster_arns must be ARNs of EMR clusters."
  }
}

variable "emr_role_arns" {
  description = "Roles that EMR steps may run as."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.emr_role_arns : can(regex("^arn:[a-z0-9-]+:iam::[0-9]{12}:role/.+$", arn))])
    error_message = "emr_role_arns must be ARNs of roles."
  }
}

variable "enable_emr_serverless_trigger" {
  description = "Whether jobs of type emr-serverless may be started; needs emr_serverless_app_arns and a role."
  type        = bool
  default     = false
}

variable "emr_serverless_app_arns" {
  description = "The EMR Serverless applications that may get jobs."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.emr_serverless_app_arns : can(regex("^arn:[a-z0-9-]+:emr-serverless:[^:]*:[0-9]*:/applications/.+$", arn))])
    error_message = "emr_serverless_app_arns must be ARNs of EMR Serverless applications."
  }
}

variable "emr_serverless_role_arns" {
  description = "Roles that EMR Serverless jobs may run as."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.emr_serverless_role_arns : can(regex("^arn:[a-z0-9-]+:iam::[0-9]{12}:role/.+$", arn))])
    error_message = "emr_serverless_role_arns must be ARNs of roles."
  }
}

variable "enable_sfn_trigger" {
  description = "Whether jobs of type step-function may be started; needs sfn_trigger_arns."
  type        = bool
  default     = false
}

variable "sfn_trigger_arns" {
  description = "The state machines that may be started as jobs."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.sfn_trigger_arns : can(regex("^arn:[a-z0-9-]+:states:.+:stateMachine:", arn))])
    error_message = "sfn_trigger_arns must be ARNs of state machines."
  }
}

variable "enable_lambda_trigger" {
  description = "Whether jobs of type lambda may be started; needs lambda_trigger_arns."
  type        = bool
  default     = false
}

variable "lambda_trigger_arns" {
  description = "The functions that may be called as jobs."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.lambda_trigger_arns : can(regex("^arn:[a-z0-9-]+:lambda:.+:function:", arn))])
    error_message = "lambda_trigger_arns must be ARNs of functions."
  }
}

variable "kms_key_arn" {
  description = "Your own KMS key for tables, queues, logs, environments and secrets; see kms_key_policy_json."
  type        = string
  default     = ""

  validation {
    condition     = var.kms_key_arn == "" || can(regex("^arn:[a-z0-9-]+:kms:[^:]+:[0-9]{12}:key/", var.kms_key_arn))
    error_message = "kms_key_arn must be the ARN of a key, not of an alias."
  }
}

variable "sns_alarm_topic_arn" {
  description = "SNS topic for alarms, besides the event log; without it, no one is notified of alarms about the alert path itself."
  type        = string
  default     = ""

  validation {
    condition     = var.sns_alarm_topic_arn == "" || can(regex("^arn:[a-z0-9-]+:sns:", var.sns_alarm_topic_arn))
    error_message = "sns_alarm_topic_arn must be the ARN of an SNS topic."
  }
}

variable "extra_publisher_arns" {
  description = "Other principals that may publish events with the source interlock."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.extra_publisher_arns : can(regex("^arn:[a-z0-9-]+:iam::[0-9]{12}:(role|user)/.+$", arn))])
    error_message = "extra_publisher_arns must be ARNs of IAM roles or users; for a session, use its role."
  }
}

variable "deletion_protection" {
  description = "Protects the tables from deletion; set it to false and apply before a destroy."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags for every resource that supports them."
  type        = map(string)
  default     = {}

  validation {
    condition     = !anytrue([for name in keys(var.tags) : name == "interlock:environment" || startswith(lower(name), "aws:")])
    error_message = "tags can't contain interlock:environment, which Interlock sets itself, or names that begin with aws:."
  }
}
