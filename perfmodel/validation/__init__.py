"""Predictions beside committed measurements, and how far they lie from them."""
