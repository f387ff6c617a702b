"""The accesses that are measured: what a warp of 32 lanes reads or writes, as C expressions.

Run it to write patterns.csv. A pattern is one access by one warp: where it goes (global or shared
memory, or a matrix load), what it does, the bytes a lane moves, the element a lane starts at, and
which lanes take part. The expressions mean the same to a C compiler and to perfmodel.
"""

from __future__ import annotations

import csv
import itertools
import random
import sys
from pathlib import Path

FIELDS = ("number", "space", "operation", "element_bytes", "index", "active")
SIZES = (1, 2, 4, 8, 16)
SHARED_BYTES = 40960
LANE = "(int)threadIdx.x"

STRIDES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 34, 36, 40, 64)
EQUAL = (
    f"{LANE} / 2",
    f"{LANE} / 4",
    f"{LANE} / 8",
    f"{LANE} / 16",
    f"{LANE} % 2",
    f"{LANE} % 4",
    f"{LANE} % 8",
    f"{LANE} % 16",
    f"{LANE} % 8 * 4 + {LANE} / 8",
    f"{LANE} / 2 * 33",
    f"{LANE} % 4 * 32",
    f"{LANE} % 4 * 32 + {LANE} / 16",
    f"31 - {LANE}",
    f"{LANE} ^ 1",
    f"{LANE} ^ 16",
    f"{LANE} ^ 5",
)
MASKS = (
    f"{LANE} < 1",
    f"{LANE} < 8",
    f"{LANE} < 17",
    f"{LANE} >= 24",
    f"{LANE} % 2 == 0",
    f"{LANE} % 4 == 3",
    f"{LANE} * 7 % 32 < 11",
    f"{LANE} / 8 % 2 == 1",
)
SWIZZLES = (
    f"{LANE} * 32 + ({LANE} ^ 5)",
    f"{LANE} * 32 + ({LANE} ^ {LANE} / 4)",
    f"{LANE} * 32 ^ {LANE}",
    f"{LANE} / 8 * 64 + ({LANE} % 8 ^ {LANE} / 8)",
    f"{LANE} % 8 * 8 + ({LANE} / 8 ^ {LANE} % 8)",
    f"{LANE} * 8 ^ {LANE} / 4",
    f"{LANE} * 4 ^ ({LANE} >> 3 & 3)",
    f"{LANE} * 16 ^ ({LANE} >> 1 & 15)",
)
ALIKE = (
    f"{LANE} < 16 ? {LANE} / 2 : {LANE}",
    f"{LANE} < 16 ? {LANE} : {LANE} / 2",
    f"{LANE} < 16 ? {LANE} / 2 : {LANE} / 4 * 2 + {LANE} % 2",
    f"{LANE} < 8 ? {LANE} / 2 : {LANE}",
    f"{LANE} / 4 * 2 + {LANE} % 2",
    f"{LANE} / 8 * 4 + {LANE} % 4",
    f"{LANE} / 4 * 4 + {LANE} % 4 / 2 * 3",
    f"{LANE} / 2 * 5",
    f"{LANE} / 2 * 8",
    f"({LANE} / 4 * 2 + {LANE} % 2) * 8",
    f"{LANE} / 2 * 37 % 61",
    f"({LANE} / 4 * 2 + {LANE} % 2) * 23 % 61",
    f"{LANE} == 31 ? 7 : {LANE} / 2",
    f"{LANE} == 0 ? 40 : {LANE} / 4 * 2 + {LANE} % 2",
    f"{LANE} % 16 / 2",
    f"{LANE} % 16 / 2 + {LANE} / 16 * 32",
)
HOLES = (f"{LANE} != 31", f"{LANE} % 5 != 0", f"{LANE} % 3 == 0", f"{LANE} < 24", f"{LANE} != 0")
MATRICES = (
    *(
        f"{LANE} % 8 * {row} + {LANE} / 8"
        for row in (1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 18, 24, 32, 33)
    ),
    f"{LANE} % 8 * 8 + ({LANE} / 8 ^ {LANE} % 8)",
    f"{LANE} % 8 * 4 + ({LANE} / 8 ^ {LANE} % 8 / 2)",
    f"{LANE} % 8 * 2 + ({LANE} / 8 % 2 ^ {LANE} % 8 / 4)",
    f"{LANE} % 16 * 8 + {LANE} / 16",
    f"{LANE} % 16 * 9 + {LANE} / 16",
    f"{LANE} * 5 % 32",
    f"{LANE} * 11 % 37",
    f"{LANE}",
)
"""Rows of matrices, in units of 16 bytes."""
Pattern = tuple[str, str, int, str, str]


def rows() -> list[dict[str, object]]:
    """Every pattern once, those drawn at random by a fixed seed."""
    draw = random.Random(20261201)
    found: list[Pattern] = []
    for size in SIZES:
        found += _regular(size)
        for _ in range(16):
            found += [_random(draw, space, "load", size) for space in ("global", "shared")]
            found.append(_random(draw, "shared", "store", size, distinct=True))
            found.append(_random(draw, "global", "store", size, distinct=True))
    for count in (1, 2, 4):
        for kind in ("ldmatrix", "ldmatrix_trans", "stmatrix"):
            found += [("shared", f"{kind}_x{count}", 16, index, "") for index in MATRICES]
            if kind != "stmatrix":
                found.append(("shared", f"{kind}_x{count}", 16, f"{LANE} / 2 * 8", ""))
    unique = list(dict.fromkeys(found))
    return [dict(zip(FIELDS, (number, *each), strict=True)) for number, each in enumerate(unique)]


def _regular(size: int) -> list[Pattern]:
    found: list[Pattern] = []
    for stride in STRIDES:
        found += [(space, "load", size, f"{LANE} * {stride}", "") for space in ("global", "shared")]
    found += [("global", "store", size, f"{LANE} * {stride}", "") for stride in STRIDES[1:12]]
    found += [("shared", "store", size, f"{LANE} * {stride}", "") for stride in STRIDES[1:]]
    for offset in (1, 2, 3, 5, 8, 15, 31):
        found.append(("global", "load", size, f"{LANE} + {offset}", ""))
        found.append(("global", "store", size, f"{LANE} + {offset}", ""))
        found.append(("shared", "load", size, f"{LANE} * 2 + {offset}", ""))
    for index in EQUAL:
        found += [(space, "load", size, index, "") for space in ("global", "shared")]
    for mask, stride in itertools.product(MASKS, (1, 3, 8, 32)):
        found += [
            (space, operation, size, f"{LANE} * {stride}", mask)
            for space in ("global", "shared")
            for operation in ("load", "store")
        ]
    for index in ALIKE:
        found += [("shared", "load", size, index, mask) for mask in ("", *HOLES)]
    found += [("shared", "load", size, f"{LANE}", mask) for mask in HOLES]
    found += [("shared", "load", size, index, "") for index in SWIZZLES]
    found += [("shared", "store", size, index, "") for index in SWIZZLES]
    found += [("global", "load", size, index, "") for index in SWIZZLES[:3]]
    return found


def _random(
    draw: random.Random, space: str, operation: str, size: int, *, distinct: bool = False
) -> Pattern:
    most = (SHARED_BYTES if space == "shared" else 16384) // size
    prime = draw.choice([each for each in (37, 61, 127, 257, 509, 1021, 2039) if each < most])
    factor, shift = draw.randrange(2, prime), draw.randrange(prime)
    index = f"({LANE} * {factor} + {shift}) % {prime}"
    if not distinct and draw.random() < 0.5:
        most = draw.choice((8, 24, 64, prime))
        index = f"({LANE} * {LANE} * {factor} + {shift}) % {prime} % {most}"
    return space, operation, size, index, draw.choice(("", "", *MASKS))


def main() -> None:
    """Write patterns.csv beside this file, or where the first argument says."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("patterns.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows())


if __name__ == "__main__":
    main()
