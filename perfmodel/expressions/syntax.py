"""From text to the syntax tree, through tree-sitter's grammar of CUDA.

tree-sitter accepts all of C++ and much that is not; what follows accepts a short list of its node
kinds and refuses everything else, with the place. The text is only ever read, never run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from perfmodel.expressions.c_types import BOOL, type_named
from perfmodel.expressions.diagnosis import (
    EXAMPLE,
    REFUSED,
    check_characters,
    check_tokens,
    near,
    syntax_error,
    unknown_type,
)
from perfmodel.expressions.disguise import blank_comments, disguise
from perfmodel.expressions.errors import ExpressionError
from perfmodel.expressions.literals import number
from perfmodel.expressions.nodes import (
    BUILTIN_MEMBERS,
    FUNCTION_ARITY,
    Binary,
    Call,
    Cast,
    Conditional,
    Literal,
    Name,
    Node,
    Unary,
)

if TYPE_CHECKING:
    import tree_sitter

MAX_DEPTH: Final = 64
MAX_NODES: Final = 2000

_HEAD: Final = "auto _ =\n"
_TAIL: Final = "\n;"
_UNARY: Final = frozenset("-+~!")
_BINARY: Final = frozenset(
    (
        *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"),
        *("==", "!=", "<", "<=", ">", ">=", "&&", "||"),
    )
)
_WORD_OPERATORS: Final = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "bitand": "&",
    "bitor": "|",
    "xor": "^",
    "compl": "~",
    "not_eq": "!=",
}


def parse_tree(text: str) -> Node:
    """Parse an expression into its syntax tree.

    Args:
        text: One C expression; comments and line breaks are allowed.

    Raises:
        ExpressionError: The text is no expression of the language, or beyond its limits.

    >>> parse_tree("i + 1")
    Binary(offset=2, operator='+', left=Name(offset=0, name='i'), \
right=Literal(offset=4, value=1, kind=CType(name='int', bits=32, signed=True, floating=False)))
    """
    check_characters(text)
    code = blank_comments(text)
    if not code.strip():
        raise ExpressionError(f"an empty expression: {EXAMPLE}", text)
    check_tokens(text, code)
    root = _parser().parse(f"{_HEAD}{disguise(code)}{_TAIL}".encode("ascii")).root_node
    if root.has_error:
        raise syntax_error(root, len(_HEAD), text, code)
    return _Reader(text).read(_only_value(root, text, code), 1)


@lru_cache(maxsize=1)
def _language() -> tree_sitter.Language:
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Language(tree_sitter_cuda.language())


def _parser() -> tree_sitter.Parser:
    """A parser of its own for each call: parsers are not safe to share between threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


def _only_value(root: tree_sitter.Node, text: str, code: str) -> tree_sitter.Node:
    """The initial value of the one declaration that the text was wrapped into."""
    declaration = root.named_children[0]
    declarator = declaration.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    shape = ["placeholder_type_specifier", "init_declarator", ";"]
    whole = root.child_count == 1 and [child.type for child in declaration.children] == shape
    if whole and value is not None:
        return value
    end = value.end_byte - len(_HEAD) if value is not None else 0
    offset = end + len(code[end:]) - len(code[end:].lstrip())
    if code[offset : offset + 1] == ",":
        raise ExpressionError(REFUSED["comma_expression"], text, offset)
    raise ExpressionError(f"more than an expression: {EXAMPLE}", text, offset)


class _Reader:
    """Turns the nodes of the grammar into ours, one accepted kind after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._nodes = 0

    def read(self, node: tree_sitter.Node, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._error(
                f"nested deeper than {MAX_DEPTH} levels (each operator of a chain is one): "
                "name a part and use its name",
                node,
            )
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._error(f"more than {MAX_NODES} names, numbers and operators", node)
        offset = node.start_byte - len(_HEAD)
        match node.type:
            case "parenthesized_expression":
                return self._parenthesized(node, depth)
            case "number_literal" | "identifier":
                return self._word(self._source(node), offset, node)
            case "true" | "false":
                return Literal(offset, node.type == "true", BOOL)
            case "field_expression":
                return self._member(node, offset)
            case "unary_expression":
                operator, at = self._operator(node, _UNARY)
                return Unary(at, operator, self._field(node, "argument", depth))
            case "binary_expression":
                operator, at = self._operator(node, _BINARY)
                left = self._field(node, "left", depth)
                return Binary(at, operator, left, self._field(node, "right", depth))
            case "conditional_expression":
                return self._conditional(node, depth)
            case "cast_expression":
                kind_node = self._part(node, "type")
                return self._cast(kind_node, self._part(node, "value"), offset, depth)
            case "call_expression":
                return self._call(node, offset, depth)
        raise self._refusal(node)

    def _source(self, node: tree_sitter.Node) -> str:
        return self._text[node.start_byte - len(_HEAD) : node.end_byte - len(_HEAD)]

    def _error(self, message: str, node: tree_sitter.Node) -> ExpressionError:
        return ExpressionError(message, self._text, node.start_byte - len(_HEAD))

    def _refusal(self, node: tree_sitter.Node) -> ExpressionError:
        kind = node.type.replace("_", " ")
        message = REFUSED.get(node.type, f"{kind} is not part of this language: {EXAMPLE}")
        return self._error(message, node.child_by_field_name("operator") or node)

    def _part(self, node: tree_sitter.Node, field: str) -> tree_sitter.Node:
        part = node.child_by_field_name(field)
        if part is None:
            raise self._refusal(node)
        return part

    def _field(self, node: tree_sitter.Node, field: str, depth: int) -> Node:
        return self.read(self._part(node, field), depth + 1)

    def _operator(self, node: tree_sitter.Node, known: frozenset[str]) -> tuple[str, int]:
        part = self._part(node, "operator")
        operator = self._source(part)
        operator = _WORD_OPERATORS.get(operator, operator)
        if operator not in known:
            raise self._error(f"unknown operator '{operator}'{near(operator, known)}", part)
        return operator, part.start_byte - len(_HEAD)

    def _parenthesized(self, node: tree_sitter.Node, depth: int) -> Node:
        inner = node.named_children
        if len(inner) != 1:
            raise self._refusal(node)
        return self.read(inner[0], depth + 1)

    def _word(self, source: str, offset: int, node: tree_sitter.Node) -> Node:
        """A name or a number; the grammar takes the sign of ``-1`` into the number."""
        if source[0] in _UNARY:
            return Unary(offset, source[0], self._word(source[1:], offset + 1, node))
        if source[0].isalpha() or source[0] == "_":
            if source in BUILTIN_MEMBERS:
                members = " or ".join(f"{source}.{member}" for member in BUILTIN_MEMBERS[source])
                raise self._error(f"'{source}' is a structure: write {members}", node)
            if source in FUNCTION_ARITY:
                raise self._error(f"'{source}' is a function: write {source}(...)", node)
            if type_named(source) is not None:
                raise self._error(f"'{source}' is a type: convert with {source}(x)", node)
            return Name(offset, source)
        try:
            value, kind = number(source)
        except ValueError as error:
            raise self._error(str(error), node) from None
        return Literal(offset, value, kind)

    def _member(self, node: tree_sitter.Node, offset: int) -> Name:
        base, member = self._part(node, "argument"), self._part(node, "field")
        name = self._source(base)
        if name not in BUILTIN_MEMBERS:
            message = f"only built-in structures have members, '{name}' is none"
            raise self._error(message + near(name, BUILTIN_MEMBERS), base)
        if self._source(self._part(node, "operator")) != ".":
            raise self._error(f"write {name}.x: it is no pointer", self._part(node, "operator"))
        if self._source(member) not in BUILTIN_MEMBERS[name]:
            message = f"'{name}' has no member '{self._source(member)}'"
            raise self._error(message + near("", BUILTIN_MEMBERS[name]), member)
        return Name(offset, f"{name}.{self._source(member)}")

    def _conditional(self, node: tree_sitter.Node, depth: int) -> Conditional:
        condition = self._field(node, "condition", depth)
        at = next(child.start_byte for child in node.children if child.type == "?") - len(_HEAD)
        if node.child_by_field_name("consequence") is None:
            raise ExpressionError("a value is missing between ? and :", self._text, at)
        if_true = self._field(node, "consequence", depth)
        return Conditional(at, condition, if_true, self._field(node, "alternative", depth))

    def _cast(
        self, type_node: tree_sitter.Node, value: tree_sitter.Node, offset: int, depth: int
    ) -> Cast:
        name = self._source(type_node)
        kind = type_named(name)
        if kind is None:
            raise self._error(unknown_type(name), type_node)
        return Cast(offset, kind, self.read(value, depth + 1))

    def _call(self, node: tree_sitter.Node, offset: int, depth: int) -> Node:
        function, listed = self._part(node, "function"), self._part(node, "arguments")
        arguments = listed.named_children
        if node.child_count != len((function, listed)):
            raise self._error("a kernel launch is not an expression", node)
        if function.type == "parenthesized_expression":
            raise self._error(
                f"'{self._source(function)}' is neither a function nor a type: for a product write "
                "*",
                function,
            )
        if function.type == "template_function":
            return self._static_cast(function, self._single(listed, "static_cast"), offset, depth)
        name = self._source(function).removeprefix("std::")
        if type_named(name) is not None:
            return self._cast(function, self._single(listed, name), offset, depth)
        arity = FUNCTION_ARITY.get(name)
        if arity is None:
            raise self._error(f"unknown function '{name}'{near(name, FUNCTION_ARITY)}", function)
        if len(arguments) != arity:
            message = f"'{name}' takes {arity} argument{'s' * (arity > 1)}, not {len(arguments)}"
            raise self._error(message, function)
        return Call(offset, name, tuple(self.read(each, depth + 1) for each in arguments))

    def _single(self, listed: tree_sitter.Node, name: str) -> tree_sitter.Node:
        if len(listed.named_children) != 1:
            raise self._error(f"'{name}' takes 1 value, not {len(listed.named_children)}", listed)
        return listed.named_children[0]

    def _static_cast(
        self, function: tree_sitter.Node, value: tree_sitter.Node, offset: int, depth: int
    ) -> Cast:
        name, types = self._part(function, "name"), self._part(function, "arguments")
        if self._source(name) != "static_cast" or len(types.named_children) != 1:
            raise self._error("static_cast<type>(x) is the only template that is known", name)
        return self._cast(types.named_children[0], value, offset, depth)
