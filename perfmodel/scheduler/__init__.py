"""From counts and a device to a prediction: the only place where the engines meet."""
