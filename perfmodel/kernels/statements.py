"""The statements of a body: from what is written to the records of the schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args

from perfmodel.errors import quoted
from perfmodel.expressions import Expression, parse
from perfmodel.kernels.schema import (
    OPERANDS,
    Atomic,
    Barrier,
    Body,
    Copy,
    For,
    If,
    Let,
    Load,
    Mma,
    Operation,
    Pipe,
    Scope,
    Shuffle,
    Signal,
    Statement,
    Store,
    Use,
    Uses,
)
from perfmodel.kernels.written import (
    Written,
    expression,
    mapping,
    name,
    record,
    require_variable,
    sequence,
    shown,
    text,
    variable,
    whole,
)
from perfmodel.suggestions import did_you_mean

Fields = Mapping[str, Written]

STATEMENT_KEYS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "let": ((), ()),
    "load": (("from", "index"), ("width", "uses")),
    "store": (("to", "index"), ("width", "uses")),
    "atomic": (("on", "index"), ("to", "uses")),
    "op": ((), ("to", "uses", "count", "chain", "packed")),
    "shuffle": ((), ("uses", "count")),
    "barrier": ((), ()),
    "for": (("do",), ("from", "below", "step", "while", "next", "unroll")),
    "if": (("then",), ("else",)),
    "share": (("then",), ("else",)),
    "copy": (("from", "index", "row"), ("rows", "pitch", "channel", "uses")),
    "mma": (("shape", "type"), ("uses", "warps", "count", "shared")),
    "acquire": ((), ()),
    "commit": ((), ()),
    "wait": ((), ()),
    "release": ((), ()),
}
"""For each leading key, the keys a statement must have beside it and those it may have."""

_USE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\s*@\s*([0-9]{1,6}))?")
_ONE = parse("1")
_ZERO = parse("0")


def read_body(node: Written, what: str) -> Body:
    """The statements of a body.

    Args:
        node: The list of statements.
        what: Whose body it is, to begin a message with.

    Returns:
        The statements in their order; a `let` of several names is one statement for each.

    Raises:
        DataError: A statement is wrong.
    """
    return tuple(found for item in sequence(node, what) for found in _statements(item))


def leading_key(node: Written) -> str:
    """The key that says what a statement is.

    Raises:
        DataError: There is none, or more than one.
    """
    fields = mapping(node, "a statement")
    leading = [key for key in fields if key in STATEMENT_KEYS]
    if len(leading) > 1:
        raise node.refuse(f"{leading[0]} and {leading[1]} in one statement: write two statements")
    if not leading:
        first = next(iter(fields), "")
        near = did_you_mean(first, STATEMENT_KEYS)
        raise node.refuse(f"{first[:60] or 'an empty mapping'} is no statement; {near}")
    return leading[0]


def _statements(node: Written) -> tuple[Statement, ...]:
    key = leading_key(node)
    required, optional = STATEMENT_KEYS[key]
    fields = record(
        node, f"{key} statement", required=(key, *required), optional=(*optional, "label")
    )
    if "label" in fields:
        name(fields["label"], "label")
    if key == "let":
        return _lets(fields)
    return (_READERS[key](fields, node.place),)


def _lets(fields: Fields) -> tuple[Let, ...]:
    found = []
    for each, value in mapping(fields["let"], "let").items():
        require_variable(value, each, "a name of let")
        found.append(Let(name=each, value=expression(value, f"let {each}"), place=value.place))
    if not found:
        raise fields["let"].refuse("let has no names: write let: {name: expression}")
    return tuple(found)


def _load(fields: Fields, place: str) -> Load:
    to = variable(fields["load"], "value of load")
    return Load(
        to=to,
        array=name(fields["from"], f"from of load {to}"),
        index=expression(fields["index"], f"index of load {to}"),
        width=_amount(fields, "width", f"load {to}"),
        uses=_uses(fields, f"load {to}"),
        place=place,
    )


def _store(fields: Fields, place: str) -> Store:
    array = name(fields["to"], "to of store")
    what = f"store to {array}"
    return Store(
        array=array,
        index=expression(fields["index"], f"index of {what}"),
        width=_amount(fields, "width", what),
        uses=(*_use_list(fields["store"], what), *_uses(fields, what)),
        place=place,
    )


def _atomic(fields: Fields, place: str) -> Atomic:
    array = name(fields["on"], "on of atomic")
    what = f"atomic on {array}"
    return Atomic(
        to=variable(fields["to"], f"to of {what}") if "to" in fields else None,
        array=array,
        index=expression(fields["index"], f"index of {what}"),
        uses=(*_use_list(fields["atomic"], what), *_uses(fields, what)),
        place=place,
    )


_USUAL_PIPES = {
    **dict.fromkeys(("exp2", "exp", "log2", "rcp", "rsqrt", "sqrt"), "special"),
    **dict.fromkeys(("and", "or", "xor", "shift"), "int32"),
}
"""Where most code does what it does not do on the fp32 pipe."""


def _operation(fields: Fields, place: str) -> Operation:
    written = text(fields["op"], "op")
    what, dot, pipe = written.partition(".")
    if not dot:
        usual = what if what in OPERANDS else "fma"
        raise fields["op"].refuse(
            f"op is {quoted(written)}: an operation and a pipe are wanted, such as "
            f"{usual}.{_USUAL_PIPES.get(usual, 'fp32')}"
        )
    if what not in OPERANDS:
        raise fields["op"].refuse(f"no operation {quoted(what)}; {did_you_mean(what, OPERANDS)}")
    pipes = get_args(Pipe)
    if pipe not in pipes:
        raise fields["op"].refuse(f"no pipe {quoted(pipe)}; {did_you_mean(pipe, pipes)}")
    shown_as = f"op {written}"
    packed = (
        whole(fields["packed"], f"packed of {shown_as}", minimum=1) if "packed" in fields else 1
    )
    if packed not in (1, 2, 4):
        raise fields["packed"].refuse(f"packed of {shown_as} is {packed}: 1, 2 or 4 is wanted")
    return Operation(
        to=variable(fields["to"], f"to of {shown_as}") if "to" in fields else None,
        what=what,
        pipe=cast("Pipe", pipe),
        count=_amount(fields, "count", shown_as),
        chain=_amount(fields, "chain", shown_as),
        packed=packed,
        uses=_uses(fields, shown_as),
        place=place,
    )


def _shuffle(fields: Fields, place: str) -> Shuffle:
    to = variable(fields["shuffle"], "value of shuffle")
    return Shuffle(
        to=to,
        count=_amount(fields, "count", f"shuffle {to}"),
        uses=_uses(fields, f"shuffle {to}"),
        place=place,
    )


def _barrier(fields: Fields, place: str) -> Barrier:
    scope = text(fields["barrier"], "barrier")
    if scope not in get_args(Scope):
        raise fields["barrier"].refuse(f"barrier is {quoted(scope)}: block or warp is wanted")
    return Barrier(scope=cast("Scope", scope), place=place)


def _for(fields: Fields, place: str) -> For:
    loop = variable(fields["for"], "variable of for")
    what = f"for {loop}"
    counted = "below" in fields
    if counted == ("while" in fields):
        raise fields["for"].refuse(f"{what} needs below, or while and next: give one of the two")
    wrong = ("next",) if counted else ("step",)
    for key in wrong:
        if key in fields:
            way = "below takes step" if counted else "while takes next"
            raise fields[key].refuse(f"{what} cannot have {key}: {way}")
    if not counted and "next" not in fields:
        raise fields["while"].refuse(f"{what} lacks next: the following value, such as {loop} * 2")
    bound = expression(fields["below"], f"below of {what}") if counted else None
    condition = (
        parse(f"{loop} < ({bound.text})")
        if bound
        else expression(fields["while"], f"while of {what}")
    )
    return For(
        variable=loop,
        start=expression(fields["from"], f"from of {what}") if "from" in fields else _ZERO,
        condition=condition,
        bound=bound,
        step=_amount(fields, "step", what) if counted else None,
        following=None if counted else expression(fields["next"], f"next of {what}"),
        unroll=_amount(fields, "unroll", what),
        body=read_body(fields["do"], f"do of {what}"),
        place=place,
    )


def _branch(fields: Fields, place: str) -> If:
    key = "if" if "if" in fields else "share"
    asked = expression(fields[key], key)
    return If(
        predicate=asked if key == "if" else None,
        share=asked if key == "share" else None,
        then=read_body(fields["then"], f"then of {key}"),
        otherwise=read_body(fields["else"], f"else of {key}") if "else" in fields else (),
        place=place,
    )


def _copy(fields: Fields, place: str) -> Copy:
    to = name(fields["copy"], "copy")
    what = f"copy {to}"
    row = expression(fields["row"], f"row of {what}")
    return Copy(
        to=to,
        array=name(fields["from"], f"from of {what}"),
        index=expression(fields["index"], f"index of {what}"),
        rows=_amount(fields, "rows", what),
        row=row,
        pitch=_amount(fields, "pitch", what, default=row),
        channel=name(fields["channel"], f"channel of {what}") if "channel" in fields else None,
        uses=_uses(fields, what),
        place=place,
    )


def _mma(fields: Fields, place: str) -> Mma:
    to = variable(fields["mma"], "value of mma")
    what = f"mma {to}"
    sizes = sequence(fields["shape"], f"shape of {what}")
    if len(sizes) != 3:
        raise fields["shape"].refuse(
            f"shape of {what} has {len(sizes)} sizes: m, n and k are wanted"
        )
    m, n, k = (expression(size, f"shape of {what}") for size in sizes)
    operands: list[Literal["a", "b"]] = []
    for item in sequence(fields["shared"], f"shared of {what}") if "shared" in fields else ():
        if item.value not in ("a", "b") or item.value in operands:
            raise item.refuse(f"shared of {what} has {shown(item)}: a, b or both are wanted")
        operands.append(cast('Literal["a", "b"]', item.value))
    return Mma(
        to=to,
        m=m,
        n=n,
        k=k,
        type=name(fields["type"], f"type of {what}"),
        warps=_amount(fields, "warps", what),
        count=_amount(fields, "count", what),
        shared_operands=tuple(operands),
        uses=_uses(fields, what),
        place=place,
    )


def _signal(fields: Fields, place: str) -> Signal:
    step = next(key for key in ("acquire", "commit", "wait", "release") if key in fields)
    return Signal(
        step=cast('Literal["acquire", "commit", "wait", "release"]', step),
        channel=name(fields[step], f"channel of {step}"),
        place=place,
    )


_READERS: Mapping[str, Callable[[Fields, str], Any]] = {
    "load": _load,
    "store": _store,
    "atomic": _atomic,
    "op": _operation,
    "shuffle": _shuffle,
    "barrier": _barrier,
    "for": _for,
    "if": _branch,
    "share": _branch,
    "copy": _copy,
    "mma": _mma,
    "acquire": _signal,
    "commit": _signal,
    "wait": _signal,
    "release": _signal,
}


def _amount(fields: Fields, key: str, what: str, *, default: Expression = _ONE) -> Expression:
    return expression(fields[key], f"{key} of {what}") if key in fields else default


def _uses(fields: Fields, what: str) -> Uses:
    return _use_list(fields["uses"], f"uses of {what}") if "uses" in fields else ()


def _use_list(node: Written, what: str) -> Uses:
    """One value or a list of them."""
    items = node.value if isinstance(node.value, tuple) else (node,)
    return tuple(_use(item, what) for item in items)


def _use(node: Written, what: str) -> Use:
    found = _USE.fullmatch(node.value.strip()) if isinstance(node.value, str) else None
    if not found:
        raise node.refuse(
            f"{what}: {shown(node)} is no value: write x, or x@1 for that of one iteration ago"
        )
    return Use(name=found[1], distance=int(found[2] or 0))
