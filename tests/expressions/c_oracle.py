"""A second, slow implementation of the language to check the first one against.

Random expressions are made as trees of tuples, written out as C text with as few parentheses as
the precedences of C allow (and now and then more), and computed one element at a time with
Python's integers. Nothing here comes from perfmodel.

A tree is one of:

    ("number", text, kind, value)   ("name", text, kind)   ("unary", operator, tree)
    ("binary", operator, tree, tree)   ("if", tree, tree, tree)
    ("cast", text before, text after, kind, tree)   ("call", function, trees)

A kind is (bits, signed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from random import Random

Kind: TypeAlias = tuple[int, bool]
Tree: TypeAlias = tuple[Any, ...]

BOOL, CHAR, UCHAR, SHORT = (1, False), (8, True), (8, False), (16, True)
INT, UNSIGNED, LONG, ULONG = (32, True), (32, False), (64, True), (64, False)

NAMES: dict[str, Kind] = {
    "threadIdx.x": UNSIGNED,
    "blockDim.x": UNSIGNED,
    "warpSize": INT,
    "i": INT,
    "n": INT,
    "wide": LONG,
    "u": UNSIGNED,
    "big": ULONG,
}

_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_UNARY_LEVEL, _PRIMARY = 11, 12
_C_CASTS = [
    *[("(int)", "", INT), ("(unsigned)", "", UNSIGNED), ("(unsigned int)", "", UNSIGNED)],
    *[("(long)", "", LONG), ("(long long)", "", LONG), ("(unsigned long long)", "", ULONG)],
    *[("(size_t)", "", ULONG), ("(int32_t)", "", INT), ("(uint32_t)", "", UNSIGNED)],
    *[("(int64_t)", "", LONG), ("(uint64_t)", "", ULONG), ("(uint8_t)", "", UCHAR)],
    *[("(signed char)", "", CHAR), ("(short)", "", SHORT), ("(bool)", "", BOOL)],
]
_CPP_CASTS = [
    *[("int(", ")", INT), ("unsigned(", ")", UNSIGNED), ("uint32_t (", ")", UNSIGNED)],
    *[("static_cast<unsigned long>(", ")", ULONG), ("long(", ")", LONG), ("bool(", ")", BOOL)],
    *[("static_cast<int>(", ")", INT), ("std::size_t(", ")", ULONG), ("short(", ")", SHORT)],
]
_NUMBERS = [
    *[("0", INT, 0), ("1", INT, 1), ("2", INT, 2), ("3", INT, 3), ("7", INT, 7), ("31", INT, 31)],
    *[("0x1F", INT, 31), ("017", INT, 15), ("0b101", INT, 5), ("32u", UNSIGNED, 32)],
    *[("1l", LONG, 1), ("5ull", ULONG, 5), ("2147483647", INT, 2**31 - 1)],
    *[("2147483648", LONG, 2**31), ("0xFFFFFFFF", UNSIGNED, 2**32 - 1), ("64LU", ULONG, 64)],
    *[("0x7fffffffffffffff", LONG, 2**63 - 1), ("0xffffffffffffffff", ULONG, 2**64 - 1)],
]


class UndefinedError(Exception):
    """C gives the expression no value."""


def random_tree(random: Random, depth: int, *, cpp: bool = True) -> Tree:
    """A random expression of at most ``depth`` levels; with ``cpp`` also what C lacks."""
    if depth == 0 or random.random() < 0.1:
        if random.random() < 0.6:
            name = random.choice(sorted(NAMES))
            return ("name", name, NAMES[name])
        return ("number", *random.choice(_NUMBERS))

    def below() -> Tree:
        return random_tree(random, depth - 1, cpp=cpp)

    shape = random.randrange(10)
    if shape == 0:
        return ("unary", random.choice("-+~!"), below())
    if shape == 1:
        return ("if", below(), below(), below())
    if shape == 2:
        return ("cast", *random.choice(_C_CASTS + (_CPP_CASTS if cpp else [])), below())
    if shape == 3:
        function = random.choice(["min", "max"] + (["ceil_div", "abs", "popcount"] if cpp else []))
        return ("call", function, [below() for _ in range(1 + (function in "min max ceil_div"))])
    return ("binary", random.choice(sorted(_PRECEDENCE)), below(), below())


def text_of(tree: Tree, random: Random, level: int = 0) -> str:
    """C text of a tree where an operator of at least ``level`` can stand."""
    match tree:
        case ("number", text, _, _) | ("name", text, _):
            own, text = _PRIMARY, str(text)
        case ("unary", operator, operand):
            own, text = _UNARY_LEVEL, f"{operator} {text_of(operand, random, _UNARY_LEVEL)}"
        case ("binary", operator, left, right):
            own = _PRECEDENCE[operator]
            first, second = text_of(left, random, own), text_of(right, random, own + 1)
            space = random.choice([" ", " ", "\n"])
            text = f"{first} {operator}{space}{second}"
        case ("if", condition, if_true, if_false):
            own = 0
            first, second = text_of(condition, random, 1), text_of(if_true, random)
            text = f"{first} ? {second} : {text_of(if_false, random)}"
        case ("cast", before, "", _, operand):
            own, text = _UNARY_LEVEL, before + text_of(operand, random, _UNARY_LEVEL)
        case ("cast", before, after, _, operand):
            own, text = _PRIMARY, before + text_of(operand, random) + after
        case ("call", function, arguments):
            own = _PRIMARY
            text = f"{function}({', '.join(text_of(each, random) for each in arguments)})"
    return f"({text})" if own < level or random.random() < 0.15 else text


def value_of(tree: Tree, values: dict[str, int]) -> tuple[Kind, int]:
    """Kind and value of a tree for one value of each name.

    Raises:
        UndefinedError: C leaves the value undefined.
    """
    match tree:
        case ("number", _, kind, value):
            return kind, value
        case ("name", name, kind):
            return kind, values[name]
        case ("unary", operator, operand):
            return _single(operator, value_of(operand, values))
        case ("cast", _, _, kind, operand):
            return kind, _converted(kind, value_of(operand, values)[1])
        case ("if", condition, if_true, if_false):
            taken = if_true if value_of(condition, values)[1] else if_false
            kind = _joined(kind_of(if_true), kind_of(if_false))
            return kind, _converted(kind, value_of(taken, values)[1])
        case ("binary", "&&" | "||" as operator, left, right):
            first = value_of(left, values)[1] != 0
            decided = first == (operator == "||")
            return (BOOL, int(first)) if decided else _truth(value_of(right, values))
        case ("binary", "<<" | ">>" as operator, left, right):
            return _shifted(operator, value_of(left, values), value_of(right, values)[1])
        case ("binary", operator, left, right):
            return _combined(operator, value_of(left, values), value_of(right, values))
        case ("call", function, (operand,)):
            return _single(function, value_of(operand, values))
        case ("call", function, (left, right)):
            return _combined(function, value_of(left, values), value_of(right, values))
    raise AssertionError(tree)


def kind_of(tree: Tree) -> Kind:
    """The kind of a tree, whatever its value."""
    match tree:
        case ("number", _, (bits, signed), _) | ("name", _, (bits, signed)):
            return bits, signed
        case ("cast", _, _, (bits, signed), _):
            return bits, signed
        case ("unary", "!", _) | ("binary", "&&" | "||" | "==" | "!=", _, _):
            return BOOL
        case ("binary", "<" | "<=" | ">" | ">=", _, _):
            return BOOL
        case (
            ("unary", _, operand) | ("binary", "<<" | ">>", operand, _) | ("call", "abs", [operand])
        ):
            return _promoted((kind_of(operand), 0))[0]
        case ("call", "popcount", _):
            return INT
        case ("if", _, left, right):
            return _joined(kind_of(left), kind_of(right))
        case ("binary", _, left, right) | ("call", _, [left, right]):
            return _common(kind_of(left), kind_of(right))
    raise AssertionError(tree)


def _truth(typed: tuple[Kind, int]) -> tuple[Kind, int]:
    return BOOL, int(typed[1] != 0)


def _single(operation: str, operand: tuple[Kind, int]) -> tuple[Kind, int]:
    kind, value = _promoted(operand)
    if operation == "!":
        return BOOL, int(value == 0)
    if operation == "popcount":
        return INT, bin(value % 2 ** kind[0]).count("1")
    plain = {"-": -value, "+": value, "~": ~value, "abs": abs(value)}
    return _exact(kind, plain[operation], operation == "~")


def _promoted(typed: tuple[Kind, int]) -> tuple[Kind, int]:
    kind, value = typed
    return (INT if kind[0] < 32 else kind), value


def _common(left: Kind, right: Kind) -> Kind:
    left, right = (INT if kind[0] < 32 else kind for kind in (left, right))
    return min(left, right, key=lambda kind: (-kind[0], kind[1]))


def _joined(left: Kind, right: Kind) -> Kind:
    return left if left == right else _common(left, right)


def _converted(kind: Kind, value: int) -> int:
    bits, signed = kind
    if bits == 1:
        return int(value != 0)
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


def _exact(kind: Kind, value: int, wraps: bool = False) -> tuple[Kind, int]:
    result = _converted(kind, value)
    if kind[1] and not wraps and result != value:
        raise UndefinedError
    return kind, result


def _shifted(operator: str, left: tuple[Kind, int], count: int) -> tuple[Kind, int]:
    kind, value = _promoted(left)
    if not 0 <= count < kind[0] or (operator == "<<" and value < 0):
        raise UndefinedError
    return _exact(kind, value * 2**count if operator == "<<" else value // 2**count)


def _combined(operator: str, left: tuple[Kind, int], right: tuple[Kind, int]) -> tuple[Kind, int]:
    kind = _common(left[0], right[0])
    a, b = _converted(kind, left[1]), _converted(kind, right[1])
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        order = (a > b) - (a < b)
        truth = {"==": order == 0, "!=": order != 0, "<": order < 0}
        truth |= {"<=": order <= 0, ">": order > 0, ">=": order >= 0}
        return BOOL, int(truth[operator])
    if operator in ("min", "max"):
        return kind, min(a, b) if operator == "min" else max(a, b)
    if operator in ("/", "%", "ceil_div"):
        return _divided(operator, kind, a, b)
    plain = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    return _exact(kind, plain[operator])


def _divided(operator: str, kind: Kind, a: int, b: int) -> tuple[Kind, int]:
    if b == 0:
        raise UndefinedError
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    _exact(kind, quotient)
    if operator == "ceil_div":
        return _exact(kind, -(-a // b))
    return _exact(kind, quotient if operator == "/" else a - b * quotient)
