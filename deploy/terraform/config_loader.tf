locals {
  compiled  = var.compiled_config_path == "" ? null : jsondecode(file(var.compiled_config_path))
  pipelines = try(local.compiled.pipelines, {})
  alerts    = var.alert_routes == null ? jsonencode(try(local.compiled.alerts, {})) : jsonencode(var.alert_routes)

  # The files that the compiled file must have been made from. Hidden files are not pipelines.
  folders = { for name, path in { pipelines = var.pipelines_path, calendars = var.calendars_path } : name => path if path != "" }
  sources = merge(
    [
      for name, path in local.folders :
      {
        for file in fileset(path, "**/*.{yaml,yml}") : "${name}/${file}" => filesha256("${path}/${file}")
        if !startswith(basename(file), ".")
      }
    ]...
  )
  alerts_files = [for path in [var.pipelines_path] : "${dirname(abspath(path))}/alerts.yaml" if path != ""]
  found = merge(
    local.sources,
    { for path in local.alerts_files : "alerts.yaml" => filesha256(path) if fileexists(path) },
  )
  # Of the sources, those in folders that were given: the others can't be compared.
  expected = {
    for file, hash in try(local.compiled.sources, {}) : file => hash
    if contains(keys(local.folders), split("/", file)[0]) || (file == "alerts.yaml" && var.pipelines_path != "")
  }

  holidays_until = [
    for id, entry in local.pipelines : entry.config.holidaysUntil if try(entry.config.holidaysUntil, null) != null
  ]
}

resource "terraform_data" "compiled" {
  input = { for id, entry in local.pipelines : id => entry.hash }

  lifecycle {
    precondition {
      condition     = local.compiled != null || length(local.folders) == 0
      error_message = "compiled_config_path is missing: with ${join(" and ", [for name in keys(local.folders) : "${name}_path"])} alone no pipeline is loaded. Run interlock compile PROJECT -o FILE and name FILE there."
    }
    precondition {
      condition     = var.pipelines_path == "" || anytrue([for file in keys(local.sources) : startswith(file, "pipelines/")])
      error_message = "pipelines_path has no pipeline files: ${var.pipelines_path}."
    }
    precondition {
      condition     = local.compiled == null || local.expected == local.found
      error_message = "${var.compiled_config_path} was not compiled from these pipeline files: run interlock compile PROJECT -o ${var.compiled_config_path}."
    }
    precondition {
      condition     = local.compiled == null || try(local.compiled.format == local.manifest.format, false)
      error_message = "${var.compiled_config_path} has another format than the package: build both with the same version of Interlock."
    }
    precondition {
      condition     = local.compiled == null || length(local.pipelines) > 0
      error_message = "${var.compiled_config_path} has no pipelines: it would remove all that are loaded. Run interlock compile PROJECT on the folder that holds pipelines/; to remove all of them, leave compiled_config_path out."
    }
    precondition {
      condition     = alltrue([for id, entry in local.pipelines : entry.config.pipeline.id == id])
      error_message = "${var.compiled_config_path} has a pipeline under another id than its own: run interlock compile again."
    }
  }
}

# These rows are Terraform's; what is in force is copied from them into a row of its own.
resource "aws_dynamodb_table_item" "pipeline" {
  for_each = { for id, entry in local.pipelines : id => entry }

  table_name = aws_dynamodb_table.state["control"].name
  hash_key   = "PK"
  range_key  = "SK"
  item = jsonencode({
    PK         = { S = "PIPELINE#${each.key}" }
    SK         = { S = "CONFIG" }
    config     = { S = jsonencode(each.value.config) }
    configHash = { S = each.value.hash }
    watchShard = { S = "CONFIG" }
    watchAt    = { S = each.key }
  })

  depends_on = [terraform_data.compiled, aws_lambda_event_source_mapping.stream]
}

resource "aws_dynamodb_table_item" "alerts" {
  count = local.alerts == "{}" ? 0 : 1

  table_name = aws_dynamodb_table.state["events"].name
  hash_key   = "PK"
  range_key  = "SK"
  item = jsonencode({
    PK     = { S = "PIPELINE#_system" }
    SK     = { S = "ALERTS" }
    config = { S = local.alerts }
  })

  depends_on = [terraform_data.compiled]
}

check "holidays_reach_far_enough" {
  assert {
    condition = alltrue([
      for until in local.holidays_until : timecmp("${until}T00:00:00Z", timeadd(plantimestamp(), "8760h")) > 0
    ])
    error_message = "The compiled holidays cover less than a year from now: run interlock compile again."
  }
}
