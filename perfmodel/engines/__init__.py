"""The laws, one a file.

A law is a free function over plain numbers, NumPy arrays or sympy symbols, with keyword-only
arguments in SI units. No engine holds a device's number, reads a file or imports another part of
perfmodel but units and expressions.
"""
