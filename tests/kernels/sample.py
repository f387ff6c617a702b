"""A small description in the form of the shipped ones, and changes of its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.kernels.reading import read_description
from perfmodel.located_yaml import read_text

if TYPE_CHECKING:
    from perfmodel.kernels.schema import Description

SAMPLE = """\
format: 1
kernel: sample
title: sums of rows
source: made up for tests
parameters:
  m: {default: 100, about: rows}
  n: {default: 64, about: elements of a row, minimum: 2}
  type: {default: fp32, about: element type, choices: [fp32, fp16]}
constraints:
  - {that: "n % 2 == 0", otherwise: n must be even}
pipe: fp32
flop: 1LL * m * n
compulsory: 1LL * m * n * type_bytes
arrays:
  input: {type: type, extent: 1LL * m * n}
  output: {type: type, extent: m}
rungs:
  - name: walk
    change: One thread walks a row.
    source: made up
    parameters: {block: {default: 32, about: threads of a block}}
    launches:
      - block: [block]
        grid: ["ceil_div(m, block)"]
        registers: 24
        body:
          - let: {row: "blockIdx.x * blockDim.x + threadIdx.x"}
          - if: "row < m"
            then:
              - op: move.fp32
                to: sum
              - for: i
                below: n
                unroll: 4
                label: loop
                do:
                  - load: x
                    from: input
                    index: "row * n + i"
                    width: 1
                  - op: add.fp32
                    to: sum
                    uses: [sum, x]
              - store: sum
                to: output
                index: row
                label: last
  - name: tree
    change: A block sums a row over shared memory.
    source: made up
    arrays: {part: {type: fp32, extent: n, space: shared}}
    launches:
      - name: sum
        block: [n]
        grid: [m]
        registers: 16
        body:
          - load: x
            from: input
            index: "blockIdx.x * n + threadIdx.x"
          - store: x
            to: part
            index: threadIdx.x
          - barrier: block
          - for: s
            from: n / 2
            while: "s > 0"
            next: s / 2
            do:
              - if: "threadIdx.x < s"
                then:
                  - load: p
                    from: part
                    index: threadIdx.x
                  - load: q
                    from: part
                    index: threadIdx.x + s
                  - op: add.fp32
                    to: r
                    uses: [p, q]
                  - store: r
                    to: part
                    index: threadIdx.x
              - barrier: block
          - if: "threadIdx.x == 0"
            then:
              - load: t
                from: part
                index: 0
              - store: t
                to: output
                index: blockIdx.x
  - name: roles
    change: One warp copies what the others multiply.
    source: made up
    alternative_to: tree
    arrays:
      tile: {type: fp16, extent: 2 * 64 * 64, space: shared}
    launches:
      - block: [5 * warpSize]
        grid: [m]
        registers: 128
        channels: {full: {stages: 2}}
        roles:
          - name: producer
            warps: 1
            registers: 24
            body:
              - for: t
                below: n / 64
                do:
                  - acquire: full
                  - {copy: tile, from: input, index: t * 64, rows: 1, row: 64, channel: full}
                  - commit: full
          - name: consumer
            warps: 4
            body:
              - for: t
                below: n / 64
                do:
                  - wait: full
                  - {mma: acc, uses: [acc, tile], shape: [64, 64, 16], type: fp16, warps: 4,
                     shared: [a, b]}
                  - release: full
"""


def described(text: str) -> Description:
    """The description that a text is."""
    return read_description(read_text(text, origin="sample.yaml"))


def changed(old: str, new: str, *, at: int = 0) -> str:
    """The sample with one occurrence of a text replaced by another."""
    parts = SAMPLE.split(old)
    assert len(parts) > at + 1, f"the sample has no {old!r}"
    return old.join(parts[: at + 1]) + new + old.join(parts[at + 1 :])


def line_of(text: str, marker: str, *, at: int = 0) -> int:
    """The line of a text on which a marker stands."""
    parts = text.split(marker)
    assert len(parts) > at + 1, f"the text has no {marker!r}"
    return marker.join(parts[: at + 1]).count("\n") + 1
