"""Reading expressions: what is accepted, what is refused, and which place is named."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.errors import DataError
from perfmodel.expressions import ExpressionError, parse
from perfmodel.expressions.c_types import (
    CHAR,
    DOUBLE,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    type_named,
)
from perfmodel.expressions.literals import number
from perfmodel.expressions.nodes import Binary, Cast, Literal, Name, Unary
from perfmodel.expressions.syntax import parse_tree


def _refusal(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    return caught.value


def test_the_text_and_the_names_are_kept() -> None:
    expression = parse("threadIdx . x * 32 + i - i")
    assert expression.text == "threadIdx . x * 32 + i - i"
    assert expression.names == {"threadIdx.x", "i"}
    assert parse("threadIdx . x * 32 + i - i") is expression


def test_an_expression_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse("i").text = "j"  # type: ignore[misc]
    with pytest.raises(TypeError):
        parse("i").integer_operations["add"] = 1  # type: ignore[index]


@pytest.mark.parametrize("text", [3, None, ["i"], b"i"])
def test_what_is_not_text_is_a_type_error(text: object) -> None:
    with pytest.raises(TypeError, match="an expression is text"):
        parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("literal", "value", "kind"),
    [
        ("0", 0, INT),
        ("2147483647", 2**31 - 1, INT),
        ("2147483648", 2**31, LONG),
        ("1'000'000", 1_000_000, INT),
        ("0x7fffffff", 2**31 - 1, INT),
        ("0x80000000", 2**31, UNSIGNED),
        ("0x1'0000'0000", 2**32, LONG),
        ("0x8000000000000000", 2**63, UNSIGNED_LONG),
        ("0XfFu", 255, UNSIGNED),
        ("0b1010", 10, INT),
        ("0B1'1", 3, INT),
        ("0777", 511, INT),
        ("1u", 1, UNSIGNED),
        ("4294967296U", 2**32, UNSIGNED_LONG),
        ("1l", 1, LONG),
        ("1LL", 1, LONG),
        ("1uLL", 1, UNSIGNED_LONG),
        ("1llU", 1, UNSIGNED_LONG),
        ("18446744073709551615u", 2**64 - 1, UNSIGNED_LONG),
        ("1.5", 1.5, DOUBLE),
        ("1.5f", 1.5, DOUBLE),
        ("1.", 1.0, DOUBLE),
        (".5e-1F", 0.05, DOUBLE),
        ("1'0e3", 10000.0, DOUBLE),
    ],
)
def test_a_literal_has_the_type_cpp_gives_it(literal: str, value: float, kind: object) -> None:
    assert number(literal) == (value, kind)
    assert parse_tree(literal) == Literal(0, value, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ("9223372036854775808", "write 9223372036854775808u"),
        ("18446744073709551616u", "beyond 64 bits"),
        ("0x1'0000'0000'0000'0000", "beyond 64 bits"),
        ("9" * 4000, "beyond 64 bits"),
        ("1e999", "beyond the range of double"),
        ("0x1p3", "is not a number of this language"),
        ("1lul", "suffix"),
        ("1_000", "suffix"),
    ],
)
def test_a_literal_without_a_type_is_refused(literal: str, message: str) -> None:
    assert message in _refusal(literal).message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unsigned", UNSIGNED),
        ("long int unsigned", UNSIGNED_LONG),
        ("unsigned long long int", UNSIGNED_LONG),
        ("long signed", LONG),
        ("signed char", CHAR),
        ("std::size_t", UNSIGNED_LONG),
        ("int64_t", LONG),
        ("uint", UNSIGNED),
        ("float", DOUBLE),
        ("unsigned unsigned", None),
        ("short long", None),
        ("half", None),
    ],
)
def test_type_names_in_any_order_of_words(name: str, kind: object) -> None:
    assert type_named(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        *("(unsigned)x", "(unsigned int)(x)", "unsigned(x)", "(unsigned(x))", "((uint32_t)(x))"),
        *("uint(x)", "(uint)x", "(uint)(x)", "static_cast<unsigned>(x)", "(std::uint32_t)x"),
        *("static_cast<unsigned int>((x))", "std::uint32_t(x)", "(int unsigned)x", "unsigned (x)"),
    ],
)
def test_each_spelling_of_a_cast(text: str) -> None:
    tree = parse_tree(text)
    assert isinstance(tree, Cast)
    assert tree.kind == UNSIGNED
    assert isinstance(tree.operand, Name)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(a) + (b) * (c)", "a + b * c"),
        ("(a) - (b) - (c)", "a - b - c"),
        ("(a) & (b)", "a & b"),
        ("(int)(a) + (b) * c", "((int)a) + (b * c)"),
        ("(min(a, b)) + (c) * (d)", "min(a, b) + c * d"),
        ("(a * (b)) - (c) * d", "(a * b) - c * d"),
        ("a < b && c > (d)", "(a < b) && (c > d)"),
        ("a<b>(c)", "(a < b) > c"),
        ("(unsigned(a) + 1)", "unsigned(a) + 1"),
        ("(warpSize) - (a) * 2", "warpSize - (a * 2)"),
        ("(uint)-a * 2", "((uint)(-a)) * 2"),
        ("(a) ? (b) : (c) - (d)", "a ? b : (c - d)"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a - -1 - 1", "(a - (-1)) - 1"),
        ("a-1", "a - 1"),
        ("a and not b or c xor d", "(a && !b) || (c ^ d)"),
        ("a | b ^ c & d == e < f << g + h * i", "a | (b ^ (c & (d == (e < (f << (g + (h*i)))))))"),
        ("(not a) and (compl b)", "(!a) && (~b)"),
        ("not (a) or compl(b)", "!a || ~b"),
        ("static_cast <int> (a) < (b)", "int(a) < b"),
        ("(ptrdiff_t)-a * (int8_t)-b", "((ptrdiff_t)(-a)) * ((int8_t)(-b))"),
        ("- - a", "-(-a)"),
        ("(int)-1 * 3", "((int)(-1)) * 3"),
        ("std::max(a, b)", "max(a, b)"),
        ("a /* one */ + // two\n b", "a + b"),
        ("a \\\n + b", "a + b"),
        ("a /* ; = \" ' # [ */", "a"),
    ],
)
def test_the_reading_is_that_of_cpp(text: str, same: str) -> None:
    assert _shape(text) == _shape(same)


def _shape(text: str) -> object:
    """The tree without its places."""

    def strip(node: object) -> object:
        if isinstance(node, tuple):
            return tuple(strip(each) for each in node)
        if not hasattr(node, "offset"):
            return node
        fields = dataclasses.fields(node)  # type: ignore[arg-type]
        return type(node), *(strip(getattr(node, f.name)) for f in fields if f.name != "offset")

    return strip(parse_tree(text))


def test_the_sign_of_a_number_is_an_operator() -> None:
    assert parse_tree("-1") == Unary(0, "-", Literal(1, 1, INT))
    minus = parse_tree("a - 1")
    assert isinstance(minus, Binary)
    assert minus.right == Literal(4, 1, INT)


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "an empty expression", 1),
        (" \n ", "an empty expression", 1),
        ("/* only */", "an empty expression", 1),
        ("a +", "an operand is missing", 3),
        ("a b", "unexpected 'b'", 3),
        ("a + * b", "a pointer", 5),
        ("(a", "')' is missing", 3),
        ("a)", "unexpected ')'", 2),
        ("()", "an operand is missing", 2),
        ("a ? b", "unexpected '?'", 3),
        ("a ? : b", "missing between ? and :", 3),
        ("a @ b", "unexpected '@'", 3),
        ("a = 3", "assignment", 3),
        ("a <<= 3", "assignment", 3),
        ("a == 3 = 4", "assignment", 8),
        ("a++", "++ and --", 2),
        ("--a", "++ and --", 1),
        ("a, b", "the comma operator", 2),
        ("(a, b)", "the comma operator", 2),
        ("a[i]", "a subscript reads memory", 1),
        ('"text"', "a string", 1),
        ("'c'", "a character", 1),
        ("1 + 'c'", "a character", 5),
        ("sizeof(int)", "sizeof", 1),
        ("alignof(int)", "alignof", 1),
        ("[] { }", "a lambda", 1),
        ("*p", "a pointer", 1),
        ("&p", "a pointer", 1),
        ("nullptr", "a pointer", 1),
        ("{1}", "braces", 1),
        ("int{1}", "braces", 1),
        ("new int", "new expression is not part", 1),
        ("a::b", "qualified identifier is not part", 1),
        ("f<<<1, 2>>>(x)", "a kernel launch", 1),
        ("celi_div(a, b)", "did you mean 'ceil_div'? known: __popc", 1),
        ("1 + pow(a, b)", "unknown function 'pow'", 5),
        ("(a)(b)", "'(a)' is neither a function nor a type", 1),
        ("min(a)", "'min' takes 2 arguments, not 1", 1),
        ("abs(a, b)", "'abs' takes 1 argument, not 2", 1),
        ("min(,)", "unexpected ','", 5),
        ("int(a, b)", "'int' takes 1 value, not 2", 4),
        ("static_cast<int>()", "'static_cast' takes 1 value, not 0", 17),
        ("static_cast<half>(a)", "unknown type 'half'", 13),
        ("reinterpret_cast<int>(a)", "static_cast<type>(x) is the only template", 1),
        ("(half)x", "unknown type 'half'", 2),
        ("(int*)x", "unknown type 'int*'; did you mean 'int'?", 2),
        ("int + 1", "'int' is a type", 1),
        ("min + 1", "'min' is a function", 1),
        ("threadIdx.w", "'threadIdx' has no member 'w'; known: x, y, z", 11),
        ("threadIdx->x", "write threadIdx.x", 10),
        ("2 * threadIdx", "write threadIdx.x or threadIdx.y", 5),
        ("thread.x", "did you mean 'threadIdx'?", 1),
        ("a <=> b", "unknown operator '<=>'; did you mean '<='?", 3),
        ("a /* b", "*/ is missing", 3),
        ("1); int y = (1", "a statement", 3),
        ("1; system(2)", "a statement", 2),
        ("1\n#define x 2\n", "a preprocessor line", 1),
        ("a \x00", r"character '\x00' (U+0000)", 3),
        ("a \x1b[2J", r"character '\x1b' (U+001B)", 3),
        ("a \u2212 b", r"character '\u2212' (U+2212)", 3),
        ("caf\u00e9", r"character '\xe9' (U+00E9)", 4),
        ("a \u202e b", "U+202E", 3),
    ],
)
def test_a_refusal_says_what_and_where(text: str, message: str, column: int) -> None:
    error = _refusal(text)
    assert message in error.message
    assert error.column == column
    assert "\n" not in error.message
    assert len(str(error).splitlines()) == 1


def test_one_line_says_place_text_and_fault() -> None:
    said = str(_refusal("threadIdx.x * 32 + f(i)"))
    assert said.startswith('column 20 of "threadIdx.x * 32 + f(i)": unknown function')


def test_the_place_in_a_later_line() -> None:
    error = _refusal("a +\n\tb *\n\tf(c)")
    assert (error.line, error.column) == (3, 2)
    assert str(error).startswith('line 3, column 2 of "\\tf(c)": ')


def test_a_long_line_is_shown_around_the_place() -> None:
    text = "aaaa + " * 30 + "f(b)" + " + cccc" * 30
    said = str(_refusal(text))
    assert said.startswith('column 211 of "...')
    shown = said.split('"')[1]
    assert len(shown) < 80
    assert "f(b)" in shown
    assert shown.endswith("...")


def test_the_error_is_a_data_error_that_survives_pickling() -> None:
    error = _refusal("a + f(b)")
    assert isinstance(error, DataError)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.message, copy.text, copy.column) == (error.message, "a + f(b)", 5)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + "a" + ")" * 2000,
        "- " * 2000 + "a",
        "~" * 4000 + "a",
        "a ? b : " * 500 + "c",
        "a ? " * 300 + "b" + ": c" * 300,
        "a + " * 1000 + "b",
        "(int)" * 800 + "a",
        "min(a, " * 500 + "b" + ")" * 500,
        "a * (" * 600 + "b" + ")" * 600,
    ],
)
def test_deep_nesting_is_refused_quickly(text: str) -> None:
    start = time.perf_counter()
    error = _refusal(text)
    assert "nested deeper than 64 levels" in error.message
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 4096, ")" * 4096, "a<" * 2048, "<" * 4096, "[](){" * 800, "{" * 4096, "f(" * 2048),
        *('"' * 4096, "'" * 4096, "#if 1\n" * 600, "static_cast<" * 340, 'R"(' * 1000, "a " * 2048),
        *(
            "/*" * 2048,
            "template<" * 450,
            "operator " * 450,
            "?:" * 2048,
            "[[x]]" * 800,
            "\\" * 4096,
        ),
        *("1'" * 2048, "0x" * 2048, "e+" * 2048, "1e" * 2048, "std::" * 800, "." * 4096),
    ],
)
def test_hostile_text_is_refused_quickly(text: str) -> None:
    start = time.perf_counter()
    str(_refusal(text))
    assert time.perf_counter() - start < 1


def test_64_levels_are_accepted_and_65_are_not() -> None:
    assert parse("(" * 63 + "a" + ")" * 63).names == {"a"}
    assert "64 levels" in _refusal("(" * 64 + "a" + ")" * 64).message
    assert parse("a + " * 63 + "b").names == {"a", "b"}
    assert "64 levels" in _refusal("a + " * 64 + "b").message


def test_too_many_characters_or_nodes() -> None:
    assert parse("a" * 4096).names == {"a" * 4096}
    assert "4097 characters: 4096 are the most" in _refusal("a" * 4097).message
    text = "a"
    for _ in range(10):
        text = f"({text}+{text})"
    assert "more than 2000 names" in _refusal(text[1:-1]).message


_TOKENS = [
    *("a", "i", "1", "0x1F", "1.5", "+", "-", "*", "/", "%", "(", ")", "<", ">", "<<", "&&", "?"),
    *(":", ",", ";", "=", "[", "]", "{", "}", ".", "threadIdx", ".x", "min", "unsigned", "(int)"),
    *("static_cast<int>", "std::", '"', "'", "//", "/*", "*/", "#", "\n", "\\", "&", "!", "~"),
]


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=60),
        st.lists(
            st.sampled_from(_TOKENS),
            max_size=24,
        ).map(" ".join),
        st.text(max_size=20),
    )
)
def test_any_text_parses_or_is_refused_on_one_line(text: str) -> None:
    error = _refusal_or_none(text)
    if error is not None:
        assert len(str(error).splitlines()) == 1
        assert 1 <= error.column <= len(text) + 1


def _refusal_or_none(text: str) -> ExpressionError | None:
    try:
        parse(text)
    except ExpressionError as error:
        return error
    return None


def test_the_import_is_light() -> None:
    code = (
        "import sys, perfmodel.expressions.expression\n"
        "heavy = {'numpy', 'sympy', 'tree_sitter', 'tree_sitter_cuda'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_integer_operations_are_counted_as_written() -> None:
    def counted(text: str) -> dict[str, int]:
        return {kind: n for kind, n in parse(text).integer_operations.items() if n}

    assert set(parse("a").integer_operations) == {
        *("add", "multiply", "divide", "shift", "logic", "compare", "select", "convert"),
    }
    assert counted("a") == {}
    assert counted("(threadIdx.x ^ (threadIdx.x >> 3)) * 32 + i") == {
        "add": 1,
        "multiply": 1,
        "shift": 1,
        "logic": 1,
    }
    assert counted("a / 2 + b % 2 - -c") == {"divide": 2, "add": 3}
    assert counted("a < b && !(c == d) ? ~a : b") == {"compare": 2, "logic": 3, "select": 1}
    assert counted("min(a, max(b, abs(c)))") == {"select": 3}
    assert counted("ceil_div(a, b)") == {"add": 2, "divide": 1}
    assert counted("popcount(a) + __popc(b)") == {"logic": 2, "add": 1}


def test_operations_on_doubles_and_free_casts_are_not_counted() -> None:
    def counted(text: str) -> dict[str, int]:
        return {kind: n for kind, n in parse(text).integer_operations.items() if n}

    assert counted("1.5 * a + -2.0 < b") == {}
    assert counted("(a > 0.5 ? 1.5 : a) / 2") == {}
    assert counted("log2(a) + abs(-0.5)") == {"convert": 1}
    assert counted("min(a, 1.5) + (1 + a)") == {"add": 1}
    assert counted("(unsigned)a + (int)threadIdx.x") == {"add": 1}
    assert counted("(size_t)a * 2") == {"convert": 1, "multiply": 1}
    assert counted("(int)(1.5 * a)") == {"convert": 1}
    assert counted("1.5 && a") == {"logic": 1}
