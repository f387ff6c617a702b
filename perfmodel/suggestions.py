"""What to say when a name is not known."""

from collections.abc import Iterable, Mapping

_SYNONYMS: Mapping[str, str] = {
    "smem": "shared",
    "shmem": "shared",
    "lds": "shared",
    "threads": "block",
    "sms": "mps",
    "cus": "mps",
    "frequency": "clock",
    "vram": "dram_size",
    "hbm": "dram_size",
}
"""Words of other vocabularies, and the one that is used here."""
_SHORTEST_ABBREVIATION = 2


def did_you_mean(
    name: str, known: Iterable[str], *, listed: Iterable[str] | None = None, most: int = 24
) -> str:
    """The nearest known name, and the known names where they are few enough to list.

    Nearest is what the name abbreviates (its beginning, or letters of it in their order), then
    what a word of another vocabulary means here, then what is spelt much like it.

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
        >>> did_you_mean("regs", ["registers", "roles"])
        'did you mean registers? known: registers, roles'
    """
    names = sorted(known)
    by_lower = {candidate.lower(): candidate for candidate in names}
    near = _nearest(name.lower()[:100], list(by_lower))
    hint = f"did you mean {by_lower[near]}?" if near else ""
    shown = names if listed is None else sorted(listed)
    listing = f"known: {', '.join(shown)}" if len(shown) <= most else ""
    return " ".join(part for part in (hint, listing) if part) or "no name is near it"


def _nearest(name: str, known: list[str]) -> str | None:
    """The known name that is most likely meant; None where none is near."""
    from difflib import get_close_matches

    abbreviated = [each for each in known if _abbreviates(name, each)]
    if abbreviated:
        return get_close_matches(name, abbreviated, n=1, cutoff=0)[0]
    if _SYNONYMS.get(name) in known:
        return _SYNONYMS[name]
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return near[0] if near else None


def _abbreviates(name: str, long: str) -> bool:
    """Whether a name begins as a longer one does and has its other letters in their order.

    Example:
        >>> _abbreviates("regs", "registers"), _abbreviates("regs", "roles")
        (True, False)
    """
    if len(name) < _SHORTEST_ABBREVIATION or name[0] != long[:1]:
        return False
    letters = iter(long)
    return all(letter in letters for letter in name)
