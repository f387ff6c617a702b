"""`python cli.py` is `perfmodel`, for a checkout that is not installed."""

from perfmodel.cli import main

main()
