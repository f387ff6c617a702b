"""Why a text is no expression: every refusal, and the place in it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final

from perfmodel.expressions.c_types import USUAL_TYPES, type_named
from perfmodel.expressions.errors import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import tree_sitter

MAX_CHARACTERS: Final = 4096

EXAMPLE: Final = "write one expression, such as threadIdx.x * 32 + i"
REFUSED: Final = {
    "assignment_expression": "assignment: an expression changes nothing; == compares",
    "update_expression": "++ and -- change a variable: write x + 1 or x - 1",
    "comma_expression": f"the comma operator: {EXAMPLE}",
    "subscript_expression": "a subscript reads memory: write the index alone",
    "pointer_expression": "a pointer: * and & need two operands here",
    "sizeof_expression": "sizeof: write the number of bytes",
    "alignof_expression": "alignof: write the number of bytes",
    "lambda_expression": f"a lambda: {EXAMPLE}",
    "initializer_list": "braces: use parentheses",
    "compound_literal_expression": "braces: write a cast as int(x) or (int)x",
    "null": "a pointer: write 0 for the number",
    "user_defined_literal": "a suffix that no number has: u, l, ul, ll and ull are known, f after "
    "a fraction",
}


def near(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message: the known names, and the nearest one first.

    >>> near("celi_div", ["min", "ceil_div"])
    "; did you mean 'ceil_div'? known: ceil_div, min"
    """
    ordered = sorted(known)
    nearest = difflib.get_close_matches(name, ordered, n=1)
    question = f"; did you mean '{nearest[0]}'?" if nearest else ";"
    return f"{question} known: {', '.join(ordered)}"


def check_characters(text: str) -> None:
    """Refuse a text that is too long, or has a character that C does not."""
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"an expression of {len(text)} characters: {MAX_CHARACTERS} are the most", text
        )
    stray = re.search(r"[^\x20-\x7e\t\r\n]", text)
    if stray:
        raise ExpressionError(
            f"character {stray[0]!a} (U+{ord(stray[0]):04X}) is not in the C alphabet: "
            "names, numbers and operators are plain ASCII",
            text,
            stray.start(),
        )


def check_tokens(text: str, code: str) -> None:
    """Refuse what would end the expression early or start something else."""
    patterns = (
        (r"(?m)^[ \t]*#", "a preprocessor line: write the expression it stands for"),
        (r"/\*", "a comment that is not closed: */ is missing"),
        (r'"', f"a string: {EXAMPLE}"),
        (r"(?<![0-9A-Fa-f])'|'(?![0-9A-Fa-f])", "a character: write its number"),
        (r";", f"a statement: {EXAMPLE}, without ';'"),
        (r"\+\+|--", REFUSED["update_expression"]),
        (r"(?<![=!<>])=(?!=)|(?:<<|>>)=", REFUSED["assignment_expression"]),
        (r"[-+*/%&|^<>=?:!~,(\[]\s*\Z", "the expression ends here, an operand is missing"),
    )
    for pattern, message in patterns:
        match = re.search(pattern, code)
        if match:
            offset = match.start() + len(match[0]) - len(match[0].lstrip())
            raise ExpressionError(message, text, offset)


def syntax_error(root: tree_sitter.Node, head: int, text: str, code: str) -> ExpressionError:
    """Describe the first place that the grammar could not read."""
    defect = root
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            defect = node
            break
        pending.extend(reversed([child for child in node.children if child.has_error]))
    offset = min(max(defect.start_byte - head, 0), len(code))
    offset += len(code[offset:]) - len(code[offset:].lstrip())
    if defect.is_missing and not defect.is_named:
        return ExpressionError(f"'{defect.type}' is missing", text, offset)
    if defect.is_missing:
        return ExpressionError("an operand is missing", text, offset)
    cast = re.search(r"\(\s*([A-Za-z_][\w ]*?)\s*\)\s*\Z", code[:offset])
    if cast and type_named(cast[1]) is None and re.match(r"[\w(]", code[offset:]):
        return ExpressionError(unknown_type(cast[1]), text, cast.start(1))
    token = re.match(r"\w+|\S", code[offset:])
    found = f"unexpected '{token[0]}'" if token else "the expression is not complete"
    if token and type_named(token[0]) is not None:
        found = f"'{token[0]}' is a type; convert with {token[0]}(x) or ({token[0]})x"
    return ExpressionError(f"{found}: {EXAMPLE}", text, offset)


def unknown_type(name: str) -> str:
    """The message about a type that the language does not have."""
    return f"unknown type '{name}'{near(name, USUAL_TYPES)}"
