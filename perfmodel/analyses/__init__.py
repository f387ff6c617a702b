"""The engines asked with the fields of a device: each takes a device and returns a result."""
