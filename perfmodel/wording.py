"""Small matters of wording that tables and plots share."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the plural where it is not one.

    Args:
        number: How many.
        noun: Of what, in the singular.
        plural: The plural where it is not the noun with an s.

    Returns:
        Such as `1 block` or `2 blocks`.

    Example:
        >>> counted(1, "pass", "passes"), counted(32, "pass", "passes"), counted(2, "lane")
        ('1 pass', '32 passes', '2 lanes')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
