"""`python cli.py` is `perfmodel`, for a checkout that is not installed."""

from perfmodel.__main__ import main

main()
