"""Simulation: a virtual world around the real controller. Clock, sensors, jobs and faults are scripted."""
