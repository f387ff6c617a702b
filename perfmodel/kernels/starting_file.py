"""A commented kernel description to start from, which is right as it stands."""

from __future__ import annotations

import os
import secrets
from string import Template
from typing import TYPE_CHECKING

from perfmodel.errors import UsageError, quoted
from perfmodel.kernels.written import is_plain_name
from perfmodel.places import require_place

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_NAME = "my_kernel"

_TEXT = Template("""\
# A kernel as perfmodel sees it: what it computes, and for each version of it (a rung) what its
# source does, statement by statement. docs/kernels.md describes the form.
#
#   perfmodel kernel check FILE          what is wrong with it, with file and line
#   perfmodel predict FILE:rung          the time of a rung, and what limits it
#   perfmodel ladder FILE                what each rung brings over the one before
#
# This one sums the rows of a matrix. Indices and amounts are expressions of C, as in the source;
# quote those that YAML would take for something else.
format: 1
kernel: $name
title: sums of the rows of a matrix
source: my own                          # where the kernel is described
parameters:                             # whole numbers, or words such as a type
  m: {default: 16384, about: rows}
  n: {default: 4096, about: elements of a row}
  type: {default: fp32, about: element type, choices: [fp32, fp16, bf16]}
pipe: fp32                              # the peak that the arithmetic is held against
flop: 1LL * m * n                       # useful work; 1LL because the product can pass 2^31
compulsory: 1LL * m * n * type_bytes + m * type_bytes    # each element read or written once
arrays:
  input: {type: type, extent: 1LL * m * n}
  output: {type: type, extent: m}

rungs:                                  # worst first
  - name: thread_per_row
    change: One thread walks a row; neighbouring lanes are a whole row apart.
    source: my own
    parameters:
      block: {default: 256, about: threads of a block}
    launches:
      - block: [block]                  # x, y, z; what is left out is 1
        grid: ["ceil_div(m, block)"]
        registers: 24                   # a thread has, as the compiler reports them
        body:
          - let: {row: "blockIdx.x * blockDim.x + threadIdx.x"}
          - if: "row < m"
            then:
              - {op: move.fp32, to: sum}
              - for: i
                below: n
                unroll: 4               # the compiler starts the loads of 4 iterations together
                do:
                  - {load: x, from: input, index: "1LL * row * n + i"}
                  # The sum of this iteration needs that of the one before: a chain.
                  - {op: add.fp32, to: sum, uses: [sum, x]}
              - {store: sum, to: output, index: row}

  - name: warp_per_row
    change: A warp walks a row together, so that neighbouring lanes read neighbouring elements.
    source: my own
    parameters:
      block: {default: 256, about: threads of a block}
    constraints:
      - {that: "block % 64 == 0", otherwise: block must be whole warps}
    launches:
      - block: [block]
        grid: ["ceil_div(m, block / warpSize)"]
        registers: 24
        body:
          - let:
              lane: "threadIdx.x % warpSize"
              row: "(blockIdx.x * blockDim.x + threadIdx.x) / warpSize"
          - if: "row < m"
            then:
              - {op: move.fp32, to: sum}
              - for: i
                from: lane
                below: n
                step: warpSize
                unroll: 4
                label: walk             # a rung that extends this one can replace it
                do:
                  - {load: x, from: input, index: "1LL * row * n + i"}
                  - {op: add.fp32, to: sum, uses: [sum, x]}
              - for: distance           # the tree over the lanes of a warp
                from: "warpSize / 2"
                while: "distance > 0"
                next: "distance / 2"
                do:
                  - {shuffle: other, uses: [sum]}
                  - {op: add.fp32, to: sum, uses: [sum, other]}
              - if: "lane == 0"
                then:
                  - {store: sum, to: output, index: row}

  - name: vector_loads
    extends: warp_per_row               # all that is not said again is taken over
    change: A lane reads 16 bytes at once, a quarter of the requests for the same bytes.
    constraints:
      - {that: "n * type_bytes % 16 == 0", otherwise: a row must be whole runs of 16 bytes}
    launch: {registers: 32}
    replace:
      walk:
        - for: i
          from: "lane * (16 / type_bytes)"
          below: n
          step: "warpSize * (16 / type_bytes)"
          unroll: 4
          do:
            - {load: x, from: input, index: "1LL * row * n + i", width: 16 / type_bytes}
            - {op: add.fp32, to: sum, uses: [sum, x], count: 16 / type_bytes,
               chain: 16 / type_bytes}
""")


def starting_file(name: str = DEFAULT_NAME) -> str:
    """The text of a description to start from.

    Args:
        name: What the kernel is called.

    Returns:
        YAML.

    Raises:
        UsageError: The name is none.
    """
    if not is_plain_name(name):
        raise UsageError(
            f"the kernel's name is {quoted(name)}: letters, digits and underscores are wanted"
        )
    return _TEXT.substitute(name=name)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, wholly or not at all.

    Args:
        path: Where to.
        text: What it shall hold.

    Raises:
        UsageError: Something of that name is there already, or it cannot be written.
    """
    require_place(path)
    partial = path.with_name(f".perfmodel-{secrets.token_hex(6)}.tmp")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.link(partial, path)  # unlike a replacement, this fails where something is there
    except FileExistsError:
        raise UsageError(f"cannot write {path}: it is there already; give another name") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {path}: {reason}") from None
    finally:
        if partial.exists():
            partial.unlink()
