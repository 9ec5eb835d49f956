locals {
  # What each table has beside the two keys.
  tables = {
    control = {
      stream     = true
      attributes = { watchShard = "S", watchAt = "S" }
      indexes = {
        watch = {
          hash       = "watchShard"
          range      = "watchAt"
          projection = "INCLUDE"
          projected = [
            "status", "version", "attempt", "leaseUntil", "executionName", "warningAt", "breachAt",
            "slaVerdict", "configHash", "activeSince", "ttl",
          ]
        }
      }
    }
    joblog = { stream = true, attributes = {}, indexes = {} }
    rerun  = { stream = false, attributes = {}, indexes = {} }
    events = {
      stream     = false
      attributes = { eventType = "S", timestamp = "N" }
      indexes    = { GSI1 = { hash = "eventType", range = "timestamp", projection = "ALL", projected = null } }
    }
  }
}

resource "aws_dynamodb_table" "state" {
  for_each = local.tables

  name                        = local.table_names[each.key]
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  range_key                   = "SK"
  deletion_protection_enabled = var.deletion_protection
  stream_enabled              = each.value.stream
  stream_view_type            = each.value.stream ? "NEW_IMAGE" : null
  tags                        = local.tags

  dynamic "attribute" {
    for_each = merge({ PK = "S", SK = "S" }, each.value.attributes)
    content {
      name = attribute.key
      type = attribute.value
    }
  }

  dynamic "global_secondary_index" {
    for_each = each.value.indexes
    content {
      name               = global_secondary_index.key
      hash_key           = global_secondary_index.value.hash
      range_key          = global_secondary_index.value.range
      projection_type    = global_secondary_index.value.projection
      non_key_attributes = global_secondary_index.value.projected
    }
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = var.kms_key_arn == "" ? null : var.kms_key_arn
  }
}
