"""The language of indices, predicates and amounts: expressions of C, as they stand in a kernel.

``(threadIdx.x ^ (threadIdx.x >> 3)) * 32 + i`` is pasted from a source file, and has to mean here
what it means there: integer division truncates, unsigned arithmetic wraps, an int next to an
unsigned becomes unsigned, the branch not taken is not evaluated. What C leaves undefined (signed
overflow, division by zero, a shift beyond the width) is an error that names the first element for
which it happens, since a model of undefined behaviour models nothing.

The text is parsed once by tree-sitter's CUDA grammar into a small tree (``syntax``, ``nodes``).
The tree is evaluated over NumPy arrays (``evaluation``, ``arithmetic``), turned into a sympy
formula (``symbolic``), or counted as integer work (``counting``). Text is never run: a file from a
stranger can do no more than fail to parse. NumPy, sympy and tree-sitter are imported on first use.

    >>> from perfmodel.expressions import parse
    >>> row = parse("(blockIdx.x * blockDim.x + threadIdx.x) / warpSize")
    >>> row.evaluate({"blockIdx.x": 1, "blockDim.x": 256, "threadIdx.x": [0, 32], "warpSize": 32})
    array([8, 9])
    >>> row.symbolic()
    floor((blockDim.x*blockIdx.x + threadIdx.x)/warpSize)

Limits: 4096 characters, 64 levels of nesting, 2000 nodes. There is one floating type, double;
``float`` and the suffix ``f`` mean it too. Beside the operators and casts of C there are
``ceil_div``, ``min``, ``max``, ``abs``, ``log2`` and ``popcount`` (``__popc``, ``__popcll``).
"""

from perfmodel.expressions.errors import ExpressionError
from perfmodel.expressions.expression import Expression, parse

__all__ = ["Expression", "ExpressionError", "parse"]
