"""From what is written in a file to the description of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from perfmodel.errors import quoted
from perfmodel.expressions import Expression, parse
from perfmodel.kernels.extending import RUNG_KEYS, extended, merged, merged_constraints
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    LARGEST_PARAMETER,
    Array,
    Barrier,
    Body,
    Channel,
    Constraint,
    Description,
    Launch,
    Parameter,
    Role,
    Rung,
    Space,
    walk,
)
from perfmodel.kernels.scoping import check_description_names, check_rung
from perfmodel.kernels.statements import STATEMENT_KEYS, read_body
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
    whole,
    written,
)
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.located_yaml import Document

FORMAT = 1

_KERNEL_KEYS = ("format", "kernel", "title", "source", "pipe", "flop", "compulsory", "rungs")
_OPTIONAL_KERNEL_KEYS = ("about", "parameters", "constraints", "arrays")
_LAUNCH_KEYS = ("block", "grid", "registers")
_OPTIONAL_LAUNCH_KEYS = ("name", "shared", "barriers", "channels", "roles", "body")
_ONE = parse("1")


def read_description(document: Document) -> Description:
    """The description that a file holds.

    Args:
        document: The file.

    Returns:
        The kernel with all its rungs, each written out and checked as far as that needs no
        values of parameters.

    Raises:
        DataError: Something in it is wrong; the message has file and line.
    """
    top = written(document)
    fields = record(top, "the description", required=_KERNEL_KEYS, optional=_OPTIONAL_KERNEL_KEYS)
    if whole(fields["format"], "format", minimum=1) != FORMAT:
        raise fields["format"].refuse(f"format is {shown(fields['format'])}: {FORMAT} is known")
    kernel = name(fields["kernel"], "kernel")
    parameters = _parameters(fields.get("parameters"))
    rungs = _rungs(fields, kernel)
    description = Description(
        kernel=kernel,
        title=text(fields["title"], "title"),
        source=text(fields["source"], "source"),
        about=text(fields["about"], "about") if "about" in fields else "",
        parameters=parameters,
        pipe=_pipe(fields["pipe"], parameters),
        flop=expression(fields["flop"], "flop"),
        compulsory=expression(fields["compulsory"], "compulsory"),
        rungs=rungs,
        origin=document.origin,
    )
    check_description_names(description, {key: fields[key].place for key in ("flop", "compulsory")})
    return description


def _rungs(fields: Mapping[str, Written], kernel: str) -> dict[str, Rung]:
    found: dict[str, Written] = {}
    for item in sequence(fields["rungs"], "rungs"):
        rung_fields = record(item, "a rung", required=("name", "change"), optional=RUNG_KEYS)
        called = name(rung_fields["name"], "name of a rung")
        if called in found:
            raise rung_fields["name"].refuse(
                f"rung {called} stands twice, first at {found[called].place}: rename one of the two"
            )
        found[called] = item
    if not found:
        raise fields["rungs"].refuse("rungs is empty: a kernel has at least one rung")
    read = [_rung(each, node, fields, kernel) for each, node in extended(found).items()]
    for rung in read:
        _check_alternative(rung, mapping(found[rung.name], "a rung"), found)
    steps = [rung for rung in read if rung.alternative_to is None]
    if not steps:
        raise fields["rungs"].refuse("every rung is an alternative_to another: one must be a step")
    return {rung.name: rung for rung in (*steps, *(r for r in read if r not in steps))}


def _check_alternative(
    rung: Rung, fields: Mapping[str, Written], rungs: Mapping[str, Written]
) -> None:
    other = rung.alternative_to
    if other is None:
        return
    if other not in rungs or other == rung.name:
        others = [each for each in rungs if each != rung.name]
        raise fields["alternative_to"].refuse(
            f"rung {rung.name} is alternative_to {other[:60]}, no other rung of this file; "
            f"{did_you_mean(other, others)}"
        )


def _rung(rung: str, node: Written, kernel_fields: Mapping[str, Written], kernel: str) -> Rung:
    what = f"rung {rung}"
    fields = mapping(node, what)
    if "launches" not in fields:
        raise node.refuse(f"{what} lacks launches: it needs them, or extends")
    if "source" not in fields:
        raise node.refuse(f"{what} lacks source: it needs one, or extends")
    both = merged(kernel_fields.get("parameters"), fields.get("parameters"), "parameters")
    parameters = _parameters(both)
    arrays = merged(kernel_fields.get("arrays"), fields.get("arrays"), "arrays")
    constraints = merged_constraints(kernel_fields.get("constraints"), fields.get("constraints"))
    _check_labels(fields["launches"], what)
    found = Rung(
        kernel=kernel,
        name=rung,
        change=text(fields["change"], f"change of {what}"),
        source=text(fields["source"], f"source of {what}"),
        extends=_text_or_none(fields, "extends", what),
        alternative_to=_text_or_none(fields, "alternative_to", what),
        parameters=parameters,
        constraints=_constraints(constraints),
        arrays=_arrays(arrays, parameters),
        launches=_launches(fields["launches"], what, kernel),
        place=node.place,
    )
    check_rung(found)
    return found


def _text_or_none(fields: Mapping[str, Written], key: str, what: str) -> str | None:
    return text(fields[key], f"{key} of {what}") if key in fields else None


def _check_labels(launches: Written, what: str) -> None:
    """Refuse a label that two statements of a rung have."""
    places: dict[str, str] = {}
    pending = [launches]
    while pending:
        node = pending.pop()
        if isinstance(node.value, tuple):
            pending.extend(reversed(node.value))
        elif isinstance(node.value, dict):
            inner = ("body", "roles", "do", "then", "else")
            pending.extend(node.value[key] for key in reversed(inner) if key in node.value)
            label = node.value.get("label")
            if label is None or not STATEMENT_KEYS.keys() & node.value.keys():
                continue
            word = name(label, "label")
            if word in places:
                raise label.refuse(
                    f"label {word} stands twice in {what}, first at {places[word]}: rename one of "
                    "the two"
                )
            places[word] = label.place


def _parameters(node: Written | None) -> dict[str, Parameter]:
    if node is None:
        return {}
    found = {}
    for each, value in mapping(node, "parameters").items():
        require_variable(value, each, "name of a parameter")
        found[each] = _parameter(each, value)
    return found


def _parameter(parameter: str, node: Written) -> Parameter:
    what = f"parameter {parameter}"
    fields = record(node, what, required=("default", "about"), optional=("minimum", "choices"))
    default = fields["default"].value
    about = text(fields["about"], f"about of {what}")
    if isinstance(default, str):
        return _word(parameter, fields, about)
    minimum = (
        whole(fields["minimum"], f"minimum of {what}", minimum=0) if "minimum" in fields else 1
    )
    choices = tuple(
        whole(item, f"choices of {what}", minimum=minimum)
        for item in (
            sequence(fields["choices"], f"choices of {what}") if "choices" in fields else ()
        )
    )
    number = whole(fields["default"], f"default of {what}", minimum=minimum)
    if number > LARGEST_PARAMETER:
        raise fields["default"].refuse(
            f"default of {what} is {number}: at most {LARGEST_PARAMETER}"
        )
    _check_choice(number, choices, fields, what)
    return Parameter(name=parameter, default=number, about=about, minimum=minimum, choices=choices)


def _word(parameter: str, fields: Mapping[str, Written], about: str) -> Parameter:
    """A parameter whose values are words."""
    what = f"parameter {parameter}"
    if "minimum" in fields:
        raise fields["minimum"].refuse(f"{what} is a word: it has choices and no minimum")
    if "choices" not in fields:
        raise fields["default"].refuse(f"{what} is a word: give its choices, such as [fp16, fp32]")
    items = sequence(fields["choices"], f"choices of {what}")
    choices = tuple(name(item, f"choices of {what}") for item in items)
    default = name(fields["default"], f"default of {what}")
    _check_choice(default, choices, fields, what)
    return Parameter(name=parameter, default=default, about=about, choices=choices)


def _check_choice(
    default: int | str, choices: tuple[int | str, ...], fields: Mapping[str, Written], what: str
) -> None:
    if "choices" in fields and default not in choices:
        known = ", ".join(map(str, choices)) or "none"
        raise fields["default"].refuse(f"default of {what} is {default}: choices are {known}")


def _constraints(node: Written | None) -> tuple[Constraint, ...]:
    found = []
    for item in sequence(node, "constraints") if node is not None else ():
        fields = record(item, "a constraint", required=("that", "otherwise"))
        found.append(
            Constraint(
                condition=expression(fields["that"], "that of a constraint"),
                message=text(fields["otherwise"], "otherwise of a constraint"),
                place=item.place,
            )
        )
    return tuple(found)


def _arrays(node: Written | None, parameters: Mapping[str, Parameter]) -> dict[str, Array]:
    found = {}
    for array, value in mapping(node, "arrays").items() if node is not None else ():
        require_variable(value, array, "name of an array")
        what = f"array {array}"
        fields = record(value, what, required=("type", "extent"), optional=("space",))
        space = text(fields["space"], f"space of {what}") if "space" in fields else "global"
        if space not in get_args(Space):
            raise fields["space"].refuse(f"space of {what} is {quoted(space)}: global or shared")
        found[array] = Array(
            name=array,
            space=cast("Space", space),
            type=element_type(fields["type"], f"type of {what}", parameters),
            extent=expression(fields["extent"], f"extent of {what}"),
            place=value.place,
        )
    return found


def element_type(node: Written, what: str, parameters: Mapping[str, Parameter]) -> str:
    """An element type, or the parameter that has one as its value.

    Raises:
        DataError: It is neither.
    """
    found = name(node, what)
    if found in ELEMENT_BYTES:
        return found
    if found in parameters:
        if is_type(parameters[found]):
            return found
        raise node.refuse(
            f"{what} is the parameter {found}, which has other values than types; "
            f"known: {', '.join(ELEMENT_BYTES)}"
        )
    words = [each for each, parameter in parameters.items() if is_type(parameter)]
    near = did_you_mean(found, [*ELEMENT_BYTES, *words])
    raise node.refuse(f"{what} is {found[:60]}, no element type; {near}")


def is_type(parameter: Parameter) -> bool:
    """Whether every value of a parameter is an element type."""
    return bool(parameter.choices) and all(each in ELEMENT_BYTES for each in parameter.choices)


def _pipe(node: Written, parameters: Mapping[str, Parameter]) -> str:
    """A peak of devices, or one for each value of a type parameter."""
    from perfmodel.device.schema import Peak

    peaks = get_args(Peak)
    found = text(node, "pipe")
    word = found.removeprefix("tensor_")
    if word != found and word in parameters and is_type(parameters[word]):
        for choice in parameters[word].choices:
            if f"tensor_{choice}" not in peaks:
                raise node.refuse(
                    f"pipe is tensor_{choice} where {word} is {choice}, no peak of a device; "
                    f"known: {', '.join(peaks)}"
                )
        return found
    if found not in peaks:
        raise node.refuse(
            f"pipe is {found[:60]}, no peak of a device; {did_you_mean(found, peaks)}"
        )
    return found


def _launches(node: Written, what: str, kernel: str) -> tuple[Launch, ...]:
    items = sequence(node, f"launches of {what}")
    if not items:
        raise node.refuse(f"launches of {what} is empty: a rung has at least one launch")
    found: dict[str, Launch] = {}
    for item in items:
        launch = _launch(item, what, kernel if len(items) == 1 else None)
        if launch.name in found:
            raise item.refuse(
                f"launch {launch.name} of {what} stands twice, first at "
                f"{found[launch.name].place}: rename one of the two"
            )
        found[launch.name] = launch
    return tuple(found.values())


def _launch(node: Written, what: str, default_name: str | None) -> Launch:
    fields = record(
        node, f"a launch of {what}", required=_LAUNCH_KEYS, optional=_OPTIONAL_LAUNCH_KEYS
    )
    if "name" not in fields and default_name is None:
        raise node.refuse(f"a launch of {what} lacks name: with several launches each has one")
    called = name(fields["name"], "name of a launch") if "name" in fields else str(default_name)
    what = f"launch {called}"
    registers = expression(fields["registers"], f"registers of {what}")
    if ("body" in fields) == ("roles" in fields):
        raise node.refuse(f"{what} needs a body, or roles: give one of the two")
    if "roles" in fields:
        roles = _roles(fields["roles"], what, registers)
    else:
        body = read_body(fields["body"], f"body of {what}")
        only = Role(
            name="all", warps=None, registers=registers, body=body, place=fields["body"].place
        )
        roles = (only,)
    return Launch(
        name=called,
        block=_shape(fields["block"], f"block of {what}"),
        grid=_shape(fields["grid"], f"grid of {what}"),
        registers=registers,
        shared=expression(fields["shared"], f"shared of {what}") if "shared" in fields else None,
        barriers=_barriers(fields, roles, what),
        channels=_channels(fields.get("channels"), what),
        roles=roles,
        place=node.place,
    )


def _shape(node: Written, what: str) -> tuple[Expression, Expression, Expression]:
    sizes = sequence(node, what)
    if not 1 <= len(sizes) <= 3:
        raise node.refuse(f"{what} has {len(sizes)} sizes: one to three are wanted, x, y and z")
    x, y, z, *_ = (*(expression(size, what) for size in sizes), _ONE, _ONE)
    return x, y, z


def _barriers(fields: Mapping[str, Written], roles: tuple[Role, ...], what: str) -> Expression:
    """As written; else one for each role that has one."""
    if "barriers" in fields:
        return expression(fields["barriers"], f"barriers of {what}")
    return parse(str(sum(_has_block_barrier(role.body) for role in roles)))


def _has_block_barrier(body: Body) -> bool:
    return any(isinstance(each, Barrier) and each.scope == "block" for each in walk(body))


def _channels(node: Written | None, what: str) -> tuple[Channel, ...]:
    found = []
    for channel, value in mapping(node, f"channels of {what}").items() if node is not None else ():
        require_variable(value, channel, "name of a channel")
        fields = record(value, f"channel {channel}", required=("stages",))
        stages = expression(fields["stages"], f"stages of channel {channel}")
        found.append(Channel(name=channel, stages=stages, place=value.place))
    return tuple(found)


def _roles(node: Written, what: str, registers: Expression) -> tuple[Role, ...]:
    found: dict[str, Role] = {}
    for item in sequence(node, f"roles of {what}"):
        fields = record(
            item, f"a role of {what}", required=("name", "warps", "body"), optional=("registers",)
        )
        role = name(fields["name"], f"name of a role of {what}")
        if role in found:
            raise fields["name"].refuse(
                f"role {role} of {what} stands twice: rename one of the two"
            )
        own = fields.get("registers")
        found[role] = Role(
            name=role,
            warps=expression(fields["warps"], f"warps of role {role}"),
            registers=expression(own, f"registers of role {role}") if own else registers,
            body=read_body(fields["body"], f"body of role {role}"),
            place=item.place,
        )
    if not found:
        raise node.refuse(f"roles of {what} is empty: give a body instead")
    return tuple(found.values())
