"""Kernel descriptions as text: the ladders in short, and a rung written out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from perfmodel.kernels.schema import (
    Atomic,
    Barrier,
    Copy,
    For,
    If,
    Let,
    Load,
    Mma,
    Operation,
    Shuffle,
    Signal,
    Store,
)
from perfmodel.tables.text import WIDTH, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perfmodel.expressions import Expression
    from perfmodel.kernels.schema import (
        Array,
        Body,
        Description,
        Launch,
        Parameter,
        Role,
        Rung,
        Statement,
        Use,
    )

_STEP = "  "


def kernels_table(descriptions: Sequence[Description]) -> str:
    """The kernels with their rungs, each with what it changes."""
    return "\n\n".join(map(_kernel, descriptions))


def _kernel(description: Description) -> str:
    longest = max(map(len, description.rungs))
    lines = [wrapped(f"{description.kernel}: {description.title}", indent=_STEP)]
    for rung in description.rungs.values():
        sign = "or" if rung.alternative_to else "  "
        head = f"{sign} {rung.name.ljust(longest)}  "
        lines.append(
            head + textwrap.shorten(rung.change, max(WIDTH - len(head), 20), placeholder=" ...")
        )
    return "\n".join(lines)


def kernel_rows(descriptions: Sequence[Description]) -> list[dict[str, Any]]:
    """One row a rung, for JSON and CSV."""
    return [
        {
            "kernel": description.kernel,
            "title": description.title,
            "rung": rung.name,
            "change": rung.change,
            "source": rung.source,
            "alternative_to": rung.alternative_to or "",
        }
        for description in descriptions
        for rung in description.rungs.values()
    ]


def rung_table(description: Description, rung: Rung) -> str:
    """A rung written out: parameters, arrays, and what each launch does."""
    others = [f"{name} (this)" if name == rung.name else name for name in description.rungs]
    work = [
        ["flop", description.flop.text],
        ["compulsory", f"{description.compulsory.text} [bytes]"],
        ["held against", description.pipe],
    ]
    parts = [
        "\n".join(
            [
                wrapped(f"{rung.kernel}:{rung.name}, {description.title}", indent=_STEP),
                wrapped(rung.change),
                wrapped(f"source: {rung.source}", indent=_STEP),
                *_relations(rung),
                wrapped(f"rungs: {', '.join(others)}", indent=_STEP),
            ]
        ),
        _section("work", _rows(work)),
        _section("parameters", _rows([_parameter(each) for each in rung.parameters.values()])),
        _section("constraints", [each.condition.text for each in rung.constraints]),
        _section("arrays", _rows([_array(each) for each in rung.arrays.values()])),
        *map(_launch, rung.launches),
    ]
    return "\n\n".join(part for part in parts if part)


def rung_record(description: Description, rung: Rung) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "kernel": rung.kernel,
        "rung": rung.name,
        "title": description.title,
        "change": rung.change,
        "source": rung.source,
        "extends": rung.extends,
        "alternative_to": rung.alternative_to,
        "pipe": description.pipe,
        "flop": description.flop.text,
        "compulsory": description.compulsory.text,
        "parameters": [
            {
                "name": each.name,
                "default": each.default,
                "about": each.about,
                "minimum": each.minimum if isinstance(each.default, int) else None,
                "choices": list(each.choices),
            }
            for each in rung.parameters.values()
        ],
        "constraints": [
            {"that": each.condition.text, "otherwise": each.message} for each in rung.constraints
        ],
        "arrays": [
            {"name": each.name, "space": each.space, "type": each.type, "extent": each.extent.text}
            for each in rung.arrays.values()
        ],
        "launches": [_launch_record(each) for each in rung.launches],
    }


def _launch_record(launch: Launch) -> dict[str, Any]:
    return {
        "name": launch.name,
        "block": _texts(launch.block),
        "grid": _texts(launch.grid),
        "registers": launch.registers.text,
        "shared": launch.shared.text if launch.shared else None,
        "barriers": launch.barriers.text,
        "channels": {each.name: each.stages.text for each in launch.channels},
        "roles": [
            {
                "name": role.name,
                "warps": role.warps.text if role.warps else None,
                "registers": role.registers.text,
                "body": list(body_lines(role.body)),
            }
            for role in launch.roles
        ],
    }


def _relations(rung: Rung) -> list[str]:
    found = [f"extends {rung.extends}"] if rung.extends else []
    return found + ([f"alternative to {rung.alternative_to}"] if rung.alternative_to else [])


def _section(title: str, lines: Sequence[str]) -> str:
    """A title and indented lines; nothing where there are none."""
    return "\n".join([title, *(_folded(line, _STEP) for line in lines)]) if lines else ""


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return table(rows).splitlines()


def _folded(line: str, indent: str) -> str:
    """A line at its depth, folded where it is too long."""
    return textwrap.fill(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + 2 * _STEP,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )


def _parameter(parameter: Parameter) -> list[str]:
    notes = parameter.about
    if parameter.choices:
        notes += f" ({', '.join(map(str, parameter.choices))})"
    elif parameter.minimum != 1:
        notes += f" (at least {parameter.minimum})"
    return [parameter.name, str(parameter.default), notes]


def _array(array: Array) -> list[str]:
    return [array.name, array.space, array.type, array.extent.text]


def _launch(launch: Launch) -> str:
    shared = f"{launch.shared.text} bytes" if launch.shared else "what its arrays take"
    lines = [
        f"block ({', '.join(_texts(launch.block))}), grid ({', '.join(_texts(launch.grid))})",
        f"registers {launch.registers.text}, shared {shared}, barriers {launch.barriers.text}",
        *(f"channel {each.name} of {each.stages.text} stages" for each in launch.channels),
    ]
    shown = [_section(f"launch {launch.name}", lines)]
    shown += [_role(role, alone=role.warps is None) for role in launch.roles]
    return "\n".join(shown)


def _role(role: Role, *, alone: bool) -> str:
    indent = _STEP if alone else 2 * _STEP
    body = [_folded(line.lstrip(), indent + _leading(line)) for line in body_lines(role.body)]
    if alone or role.warps is None:
        return "\n".join(body)
    head = f"role {role.name}: {_warps(role.warps)}, registers {role.registers.text}"
    return "\n".join([_folded(head, _STEP), *body])


def _leading(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _texts(sizes: Sequence[Expression]) -> list[str]:
    """Sizes without the ones that close them."""
    texts = [each.text for each in sizes]
    while len(texts) > 1 and texts[-1] == "1":
        texts.pop()
    return texts


def body_lines(body: Body, indent: str = "") -> Iterator[str]:
    """The statements of a body, those inside others indented.

    Args:
        body: The statements.
        indent: What every line begins with.

    Yields:
        One line a statement.
    """
    for statement in body:
        match statement:
            case For(body=inner):
                yield indent + _loop(statement)
                yield from body_lines(inner, indent + _STEP)
            case If(then=then, otherwise=otherwise):
                yield indent + _asked(statement)
                yield from body_lines(then, indent + _STEP)
                if otherwise:
                    yield f"{indent}else:"
                    yield from body_lines(otherwise, indent + _STEP)
            case _:
                yield indent + _single(statement)


def _loop(loop: For) -> str:
    after = f", unroll {loop.unroll.text}" if loop.unroll.text != "1" else ""
    if loop.bound is not None and loop.step is not None:
        step = f" step {loop.step.text}" if loop.step.text != "1" else ""
        return f"for {loop.variable} from {loop.start.text} below {loop.bound.text}{step}{after}:"
    following = loop.following.text if loop.following else ""
    return (
        f"for {loop.variable} from {loop.start.text} while {loop.condition.text}, "
        f"next {following}{after}:"
    )


def _asked(branch: If) -> str:
    if branch.predicate is not None:
        return f"if {branch.predicate.text}:"
    return f"if data says so, for a share of {branch.share.text if branch.share else ''}:"


def _single(statement: Statement) -> str:
    match statement:
        case Let(name=name, value=value):
            return f"let {name} = {value.text}"
        case Load(to=to, array=array, index=index, width=width, uses=uses):
            return f"{to} = {array}[{index.text}]{_width(width)}{_reads(uses)}"
        case Store(array=array, index=index, width=width, uses=uses):
            return f"{array}[{index.text}]{_width(width)} = {_used(uses) or 'a constant'}"
        case Atomic(to=to, array=array, index=index, uses=uses):
            return f"{f'{to} = ' if to else ''}atomic {array}[{index.text}] += {_used(uses)}"
        case Operation() | Shuffle():
            return _arithmetic(statement)
        case Barrier(scope=scope):
            return f"barrier {scope}"
        case Signal(step=step, channel=channel):
            return f"{step} {channel}"
        case Copy() | Mma():
            return _bulk(statement)
        case _:
            raise TypeError(f"{type(statement).__name__} holds other statements")


def _arithmetic(statement: Operation | Shuffle) -> str:
    what = "shuffle"
    notes = []
    if isinstance(statement, Operation):
        what = f"{statement.what}.{statement.pipe}"
        notes += [f"chain {statement.chain.text}"] if statement.chain.text != "1" else []
        notes += [f"packed {statement.packed}"] if statement.packed != 1 else []
    times = f" x {_factor(statement.count)}" if statement.count.text != "1" else ""
    to = f"{statement.to} = " if statement.to else ""
    return ", ".join([f"{to}{what}({_used(statement.uses)}){times}", *notes])


def _bulk(statement: Copy | Mma) -> str:
    if isinstance(statement, Copy):
        notes = [f"pitch {statement.pitch.text}"] if statement.rows.text != "1" else []
        notes += [f"on {statement.channel}"] if statement.channel else []
        box = f"{_factor(statement.rows)} x {_factor(statement.row)}"
        start = f"{statement.array}[{statement.index.text}]"
        return ", ".join([f"{statement.to} = copy {box} from {start}", *notes])
    shape = " x ".join(_factor(each) for each in (statement.m, statement.n, statement.k))
    times = f" x {_factor(statement.count)}" if statement.count.text != "1" else ""
    notes = [_warps(statement.warps)]
    operands = " and ".join(statement.shared_operands)
    notes += [f"{operands} from shared memory"] if operands else []
    head = f"{statement.to} = mma {shape} {statement.type}({_used(statement.uses)}){times}"
    return ", ".join([head, *notes])


def _warps(amount: Expression) -> str:
    return "1 warp" if amount.text == "1" else f"{amount.text} warps"


def _factor(amount: Expression) -> str:
    """An amount, in parentheses where it is more than one word."""
    return f"({amount.text})" if " " in amount.text else amount.text


def _width(width: Expression) -> str:
    return f" width {_factor(width)}" if width.text != "1" else ""


def _reads(uses: tuple[Use, ...]) -> str:
    return f", uses {_used(uses)}" if uses else ""


def _used(uses: tuple[Use, ...]) -> str:
    return ", ".join(
        f"{each.name}@{each.distance}" if each.distance else each.name for each in uses
    )
