# The entries themselves are made by the functions, one for each timer; they go when they have fired.
resource "aws_scheduler_schedule_group" "timers" {
  name = local.timer_group
  tags = local.tags
}
