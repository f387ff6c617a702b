"""The documents' figures as data, and how each of them is computed again."""
