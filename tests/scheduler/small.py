"""Small descriptions for the scheduler's tests, written where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.kernels.reading import read_description
from perfmodel.located_yaml import read_text

if TYPE_CHECKING:
    from perfmodel.kernels.schema import Description

HEAD = """\
format: 1
kernel: small
title: a small kernel
source: made up for tests
parameters:
  n: {default: 1048576, about: elements}
  block: {default: 256, about: threads of a block}
  steps: {default: 64, about: iterations}
pipe: fp32
flop: n
compulsory: 8LL * n
arrays:
  a: {type: fp32, extent: 64LL * n}
  c: {type: fp32, extent: 64LL * n}
rungs:
"""

RUNG = """\
  - name: %s
    change: nothing
    source: made up for tests
    arrays: {s: {type: fp32, extent: 2 * block, space: shared}}
    launches:
      - block: [block]
        grid: [n / block]
        registers: 32
        body:
"""


def small(**bodies: str) -> Description:
    """A kernel with a rung for each body, given as YAML without indentation."""
    text = HEAD
    for name, body in bodies.items():
        text += RUNG % name
        text += "".join(f"          {line}\n" for line in body.strip("\n").splitlines())
    return read_description(read_text(text, origin=f"{'-'.join(bodies)}.yaml"))
