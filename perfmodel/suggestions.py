"""What to say when a name is not known."""

from collections.abc import Iterable


def did_you_mean(
    name: str, known: Iterable[str], *, listed: Iterable[str] | None = None, most: int = 24
) -> str:
    """The nearest known name, and the known names where they are few enough to list.

    Args:
        name: What was asked for.
        known: What there is.
        listed: What is listed of it; by default all.
        most: How many names are listed at most.

    Returns:
        Text that completes an error message.

    Example:
        >>> did_you_mean("s500", ["s5000", "dcu"])
        'did you mean s5000? known: dcu, s5000'
    """
    from difflib import get_close_matches

    names = sorted(known)
    by_lower = {candidate.lower(): candidate for candidate in names}
    near = get_close_matches(name.lower()[:100], by_lower, n=1, cutoff=0.6)
    hint = f"did you mean {by_lower[near[0]]}?" if near else ""
    shown = names if listed is None else sorted(listed)
    listing = f"known: {', '.join(shown)}" if len(shown) <= most else ""
    return " ".join(part for part in (hint, listing) if part) or "no name is near it"
