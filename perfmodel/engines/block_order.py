"""Block order: in which order the blocks of a matrix product are visited, and what they share.

A device starts blocks by their linear number, row by row of the grid. Those in flight together
then lie in one row: they share a strip of A, but each needs its own strip of B, and the cache
between can at best double the bandwidth below it. Taking the blocks in narrower strips brings
them closer to a square. For a set of blocks

    amplification = 2 blocks / (distinct rows + distinct columns)

Three orders are given. Row order is the device's own. The serpentine order cuts the grid into
strips some blocks wide and walks each strip to and fro, every other strip backwards, so that a
step goes to a neighbour almost always. The grouped order cuts the grid into groups of rows and
walks each group column by column.

An order is an array of shape [blocks, 2] that holds (block row, block column); its position is the
linear number of the block. Which blocks are in flight together is taken to be a window of
consecutive ones: true for the first wave, and near the truth while blocks take equally long.
"""

from typing import TYPE_CHECKING, Any

from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Order = NDArray[np.int64]


def row_order(*, grid_rows: int, grid_columns: int) -> "Order":
    """The order in which a device numbers blocks: row after row.

    Equation: ``row = id div columns, column = id mod columns``

    Args:
        grid_rows: Rows of blocks [-], at least 1.
        grid_columns: Columns of blocks [-], at least 1.

    Returns:
        Block row and block column of each linear number [-], shape [blocks, 2].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 3 (block ID swizzle, the default order).

    Example:
        >>> row_order(grid_rows=2, grid_columns=2).tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    block = _block_numbers(grid_rows, grid_columns)
    return _pairs(block // int(grid_columns), block % int(grid_columns))


def serpentine_order(
    *, grid_rows: int, grid_columns: int, strip_width: int, strips_of_rows: bool = False
) -> "Order":
    """Strips of the grid, each walked to and fro, every other strip backwards.

    Equation: with strips of w columns over R rows, ``strip = id div (w R)``; inside a strip as
    wide as is left, ``step = rest div width`` and ``across = rest mod width``, counted from the
    right at odd steps; the row is ``step``, counted from the bottom in odd strips; the column is
    ``strip w + across``.

    Args:
        grid_rows: Rows of blocks [-], at least 1.
        grid_columns: Columns of blocks [-], at least 1.
        strip_width: w, blocks across a strip [-], at least 1; the last strip may be narrower.
        strips_of_rows: Whether the strips are w rows high and run along the columns, the same
            order with rows and columns exchanged.

    Returns:
        Block row and block column of each linear number [-], shape [blocks, 2].

    Raises:
        ArgumentError: A size is not a whole number of at least 1.

    Validity: any grid. With an even number of rows a strip of more than one block ends at the
    far side of the strip, so that the way to the next one is a jump.

    Source: document 000, section 5 GEMM 3 (its reference algorithm, derived again).

    Example:
        >>> serpentine_order(grid_rows=2, grid_columns=3, strip_width=2).tolist()
        [[0, 0], [0, 1], [1, 1], [1, 0], [1, 2], [0, 2]]
    """
    if strips_of_rows:
        exchanged = serpentine_order(
            grid_rows=grid_columns, grid_columns=grid_rows, strip_width=strip_width
        )
        return exchanged[:, ::-1]
    block = _block_numbers(grid_rows, grid_columns)
    require("strip_width", strip_width, low=1, whole=True)
    import numpy as np

    grid_rows, grid_columns, strip_width = int(grid_rows), int(grid_columns), int(strip_width)
    strip, rest = np.divmod(block, strip_width * grid_rows)
    width = np.minimum(strip_width, grid_columns - strip * strip_width)
    step, across = np.divmod(rest, width)
    across = np.where(step % 2 == 1, width - 1 - across, across)
    row = np.where(strip % 2 == 1, grid_rows - 1 - step, step)
    return _pairs(row, strip * strip_width + across)


def grouped_order(*, grid_rows: int, grid_columns: int, group_rows: int) -> "Order":
    """Groups of rows, each walked column by column.

    Equation: with groups of g rows over C columns, ``group = id div (g C)``; inside a group as
    high as is left, ``row = group g + rest mod height`` and ``column = rest div height``.

    Args:
        grid_rows: Rows of blocks [-], at least 1.
        grid_columns: Columns of blocks [-], at least 1.
        group_rows: g, rows of a group [-], at least 1; the last group may be lower.

    Returns:
        Block row and block column of each linear number [-], shape [blocks, 2].

    Raises:
        ArgumentError: A size is not a whole number of at least 1.

    Source: the Triton tutorial on matrix multiplication (its L2 cache section), derived again.

    Example:
        >>> grouped_order(grid_rows=3, grid_columns=2, group_rows=2).tolist()
        [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]]
    """
    block = _block_numbers(grid_rows, grid_columns)
    require("group_rows", group_rows, low=1, whole=True)
    import numpy as np

    grid_rows, grid_columns, group_rows = int(grid_rows), int(grid_columns), int(group_rows)
    group, rest = np.divmod(block, group_rows * grid_columns)
    height = np.minimum(group_rows, grid_rows - group * group_rows)
    return _pairs(group * group_rows + rest % height, rest // height)


def blocks_amplification(*, blocks: "ArrayLike") -> float:
    """Bandwidth amplification of a set of blocks that share a cache.

    Equation: ``2 blocks / (distinct rows + distinct columns)``

    Args:
        blocks: (block row, block column) of each block in flight [-], shape [blocks, 2].

    Returns:
        Operand tiles asked for over operand tiles that differ [-], at least 1.

    Raises:
        ArgumentError: The list is empty, is not one of pairs of whole numbers of at least 0, or
            names a block twice.

    Validity: the tiles of A and of B are as large as each other, the blocks move through the depth
    together, and the cache holds what they need at a time.

    Source: document 000, section 5 GEMM 3 (block ID swizzle).

    Example:
        >>> blocks_amplification(blocks=[(0, 0), (0, 1), (1, 0), (1, 1)])  # (4 + 4) / (2 + 2)
        2.0
    """
    order = _checked_order(blocks)
    return float(windows_amplification(order=order, resident_blocks=len(order))[0])


def windows_amplification(*, order: "ArrayLike", resident_blocks: int) -> "NDArray[np.float64]":
    """Bandwidth amplification of each window of blocks that are resident together.

    Equation: ``2 blocks / (distinct rows + distinct columns)`` of the blocks 0 to r - 1, r to
    2 r - 1, and so on.

    Args:
        order: (block row, block column) in visiting order [-], shape [blocks, 2].
        resident_blocks: r, blocks in flight on the whole device [-], at least 1.

    Returns:
        The amplification of each window [-]; the last may hold fewer blocks.

    Raises:
        ArgumentError: As `blocks_amplification`, or `resident_blocks` is not a whole number of at
            least 1.

    Validity: as `blocks_amplification`; and blocks leave in the order in which they came.

    Source: document 000, section 5 GEMM 3 (block ID swizzle).

    Example:
        >>> order = row_order(grid_rows=2, grid_columns=4)
        >>> windows_amplification(order=order, resident_blocks=4).tolist()  # (4 + 4) / (1 + 4)
        [1.6, 1.6]
    """
    blocks, tiles = _windows(order, resident_blocks)
    return 2 * blocks / tiles


def order_amplification(*, order: "ArrayLike", resident_blocks: int) -> float:
    """Bandwidth amplification of a whole order, taken window by window.

    Equation: ``2 blocks / sum over windows (distinct rows + distinct columns)``

    Args:
        order: (block row, block column) in visiting order [-], shape [blocks, 2].
        resident_blocks: r, blocks in flight on the whole device [-], at least 1.

    Returns:
        Operand tiles asked for over operand tiles fetched [-], at least 1: the factor by which
        the traffic of all the blocks falls.

    Raises:
        ArgumentError: As `windows_amplification`.

    Validity: as `windows_amplification`; nothing is kept from one window to the next.

    Source: document 000, section 5 GEMM 3 (block ID swizzle), summed over the windows.

    Example:
        >>> order = row_order(grid_rows=3, grid_columns=2)  # 12 / ((2 + 2) + (1 + 2))
        >>> round(order_amplification(order=order, resident_blocks=4), 4)
        1.7143
    """
    blocks, tiles = _windows(order, resident_blocks)
    return float(2 * blocks.sum() / tiles.sum())


def _windows(
    order: "ArrayLike", resident_blocks: int
) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Blocks, and distinct rows plus distinct columns, of each window."""
    require("resident_blocks", resident_blocks, low=1, whole=True)
    import numpy as np

    checked = _checked_order(order)
    window = np.arange(len(checked), dtype=np.int64) // int(resident_blocks)
    blocks = np.bincount(window)
    tiles = np.zeros_like(blocks)
    for axis in (0, 1):
        size = int(checked[:, axis].max()) + 1
        distinct = np.unique(window * size + checked[:, axis])
        tiles += np.bincount(distinct // size, minlength=len(blocks))
    return blocks, tiles


def _checked_order(blocks: "ArrayLike") -> "Order":
    import numpy as np

    try:
        order: NDArray[Any] = np.asarray(blocks)
    except ValueError as error:
        raise ArgumentError(
            "the blocks are not all pairs: give (block row, block column)"
        ) from error
    if order.dtype == bool or order.ndim != 2 or order.shape[1] != 2 or not len(order):
        raise ArgumentError(
            f"the blocks are {order.dtype} of shape {order.shape}: "
            "give (block row, block column) of at least one"
        )
    require("a block row or column", order, low=0, high=2**31 - 1, whole=True)
    order = order.astype(np.int64)
    if len(np.unique(order[:, 0] * 2**31 + order[:, 1])) != len(order):
        raise ArgumentError("the blocks name one of them twice: each must be there once")
    return order


def _block_numbers(grid_rows: int, grid_columns: int) -> "NDArray[np.int64]":
    require("grid_rows", grid_rows, low=1, whole=True)
    require("grid_columns", grid_columns, low=1, whole=True)
    import numpy as np

    return np.arange(int(grid_rows) * int(grid_columns), dtype=np.int64)


def _pairs(row: "NDArray[np.int64]", column: "NDArray[np.int64]") -> "Order":
    import numpy as np

    return np.stack([row, column], axis=1)
