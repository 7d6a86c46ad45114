@{banner}
"""Kernels of @{format} for MLX. See docs/mlx.md of qkgen.

`w` is the array of a tensor's blocks, of any type and shape whose bytes are the blocks in order; of a format with several
buffers, a tuple of one array for each, in the order of BUFFERS.
"""
import copy
import functools

import mlx.core as mx

FORMAT = "@{format}"
BLOCK_ELEMENTS = @{elements}
BUFFERS = (@{buffers})  # name, and bytes of a block

_TYPES = {mx.float32: "f32", mx.float16: "f16", mx.bfloat16: "bf16"}
_MAX_GROUPS = 65535  # threads loop beyond
_KERNELS = {}

# What all kernels share.
_HEADER = r"""
@{header}
"""


class _kernel:
    """A kernel: what MLX makes of it, and the names of what it takes."""

    def __init__(self, name, inputs, outputs, constants, push, tile, threads, header, source):
        self.name, self.inputs, self.outputs, self.constants = name, inputs, outputs, constants
        self.push, self.tile, self.threads = push, tile, threads  # numbers, elements of a tile, threads of a threadgroup
        self.header, self.source, self.readers = header, source, {}
        self.made = self._make(name)

    def _make(self, name):
        return mx.fast.metal_kernel(
            name=name, input_names=self.inputs, output_names=self.outputs, header=_HEADER + self.header, source=self.source
        )

    def reading(self, name):
        """The same kernel, for launches that only read the output of that name: it is an input."""
        if name not in self.readers:
            other = copy.copy(self)
            other.inputs = self.inputs[:-1] + ["arg_" + name] + self.inputs[-1:]
            other.outputs = [output for output in self.outputs if output != "arg_" + name]
            other.made = other._make(f"{self.name}_reading_{name}")
            self.readers[name] = other
        return self.readers[name]

    def __call__(self, inputs, outputs, groups, values, constants={}):
        """Launches it. `inputs` are arrays by name, those that are left out are not read; `outputs` are shapes and types
        by name; `values` and `constants` are the numbers that it takes, and those that it is compiled for."""
        numbers = _numbers(*(values[name] for name in self.push))
        found = [inputs.get(name[4:], numbers) for name in self.inputs[:-1]]
        made = self.made(
            inputs=[_in_device(a) for a in found] + [numbers],
            template=[(name, constants[name[len(self.name) + 1 :]]) for name in self.constants],
            grid=(max(1, min(groups, _MAX_GROUPS)) * self.threads, 1, 1),
            threadgroup=(self.threads, 1, 1),
            output_shapes=[outputs[name[4:]][0] for name in self.outputs],
            output_dtypes=[outputs[name[4:]][1] for name in self.outputs],
        )
        return dict(zip((name[4:] for name in self.outputs), made))


def _make_numbers(*values):
    return mx.array(list(values) + [0] * max(0, 8 - len(values)), dtype=mx.uint32)


_numbers = functools.lru_cache(maxsize=4096)(_make_numbers)


def _in_device(a):
    """MLX passes arrays of fewer than eight elements in constant memory, from which these kernels do not read."""
    if a.size >= 8:
        return a
    return mx.concatenate([a.reshape(-1), mx.zeros((8 - a.size,), dtype=a.dtype)])


def _ceil(a, b):
    return -(-a // b)


def _blocks(w):
    """The arrays of a tensor by the names of their buffers, and how many blocks they hold."""
    w = tuple(w) if isinstance(w, (tuple, list)) else (w,)
    names = ", ".join(name for name, _ in BUFFERS)
    if len(w) != len(BUFFERS):
        raise ValueError(f"{FORMAT} has {len(BUFFERS)} buffers ({names}), and {len(w)} arrays were given")
    count = None
    for array, (name, size) in zip(w, BUFFERS):
        n, rest = divmod(array.nbytes, size)
        if rest or n == 0:
            raise ValueError(f"{FORMAT}: {name} has {array.nbytes} bytes, which are no blocks of {size}")
        if count is not None and n != count:
            raise ValueError(f"{FORMAT}: {name} has {n} blocks, and {BUFFERS[0][0]} has {count}")
        count = n
    if count * BLOCK_ELEMENTS >= 1 << 32:
        raise ValueError(f"{FORMAT}: a tensor of {count * BLOCK_ELEMENTS} elements is too large; take it in parts of less than 2^32")
    return {name: array for array, (name, _) in zip(w, BUFFERS)}, count


def _rows(count, cols):
    rows, rest = divmod(count * BLOCK_ELEMENTS, cols)
    if cols % BLOCK_ELEMENTS or rest:
        raise ValueError(f"{FORMAT}: {count} blocks of {BLOCK_ELEMENTS} elements are no rows of {cols}")
    return rows


def _shape(w, count):
    """Of the tensor, as far as the shape of its first array says it."""
    first = w[0] if isinstance(w, (tuple, list)) else w
    lead = tuple(first.shape[:-1])
    rows = functools.reduce(lambda a, b: a * b, lead, 1)
    elements = count * BLOCK_ELEMENTS
    return lead + (elements // rows,) if elements % rows == 0 and elements // rows % BLOCK_ELEMENTS == 0 else (elements,)


def _type(dtype):
    if dtype not in _TYPES:
        raise ValueError(f"{FORMAT}: results are float32, float16 or bfloat16, not {dtype}")
    return _TYPES[dtype]


@if dequant

def dequant(w, dtype=mx.float32):
    """The values of a tensor, exact in float32 and rounded once to `dtype`."""
    arrays, count = _blocks(w)
    kernel = _KERNELS["dequant_" + _type(dtype)]
    tiles = count * (BLOCK_ELEMENTS // kernel.tile)
    return kernel(arrays, {"dst": (_shape(w, count), dtype)}, _ceil(tiles, kernel.threads), {"tiles": tiles})["dst"]

@end
@if gather

def gather(w, indices, dtype=mx.float32, cols=None):
    """Rows of a table, of the shape of `indices` and `cols` more. An index that is no row gives zeros. `cols` may be left
    out where the first array of `w` has a dimension of rows."""
    arrays, count = _blocks(w)
    cols = cols or _shape(w, count)[-1]
    rows, tokens, shape = _rows(count, cols), indices.size, tuple(indices.shape) + (cols,)
    if tokens == 0:
        return mx.zeros(shape, dtype=dtype)
    kernel = _KERNELS["gather_" + _type(dtype)]
    row_tiles = cols // kernel.tile
    values = dict.fromkeys(kernel.push, 0)  # steps and batches of views, which 0 leaves out
    values.update({"rows": rows, "row_first": 0, "row_end": rows, "row_tiles": row_tiles, "tokens": tokens})
    arrays["indices"] = indices.astype(mx.uint32)
    outputs = {"dst": (shape, dtype), "status": ((1,), mx.uint32)}
    return kernel(arrays, outputs, _ceil(tokens * row_tiles, kernel.threads), values)["dst"]

@end
@if sums

def _vectors(x):
    return x if x.dtype in (mx.float32, mx.float16) else x.astype(mx.float32)


def _epilogue(scale, bias, gate, residual, vectors, rows, of_rows):
    """The arrays that results meet on their way, and the bits that say which."""
    found, bits = {}, 0
    for name, value, bit, sizes in (
        ("result_scale", scale, 4, (of_rows // rows, of_rows)),
        ("row_bias", bias, 2, (of_rows,)),
        ("result_gate", gate, 8, (vectors * rows,)),
        ("residual", residual, 16, (vectors * rows,)),
    ):
        if value is None:
            continue
        if value.size not in sizes:
            raise ValueError(f"{FORMAT}: {name} has {value.size} elements, and must have {' or '.join(map(str, sizes))}")
        found[name] = value.astype(mx.float32).reshape(-1)
        bits |= bit | (256 if bit == 4 and value.size == of_rows and rows > 1 else 0)
    return found, bits

@end
@if gemv

def gemv(w, x, bias=None, scale=None, gate=None, residual=None):
    """The product of a matrix with vectors, x @ W.T: `x` has rows of W's columns, and any number of them; eight are taken in
    a launch. Sums are float32, results are of the type of `x`. In float32, and in this order, results are multiplied with
    `scale` (one number, or one for each row of W), `bias` (one for each row) is added, they are multiplied with silu(`gate`),
    and `residual` is added, both of the shape of the results."""
    arrays, count = _blocks(w)
    cols = x.shape[-1]
    rows, shape = _rows(count, cols), tuple(x.shape[:-1])
    v = _vectors(x).reshape(-1, cols)
    vectors = v.shape[0]
    if vectors == 0:
        return mx.zeros(shape + (rows,), dtype=x.dtype)
    found, bits = _epilogue(scale, bias, gate, residual, vectors, rows, rows)
    kernel, parts = _KERNELS["gemv_" + _type(v.dtype)], []
    for first in range(0, vectors, 8):
        batch = min(8, vectors - first)
        some = {n: a[first * rows : (first + batch) * rows] if n in ("result_gate", "residual") else a for n, a in found.items()}
        values = dict.fromkeys(kernel.push, 0)  # views, which are off
        values.update({"rows": rows, "row_tiles": cols // kernel.tile, "batch": batch, "y_rows": rows, "epilogue": bits})
        made = kernel(
            {**arrays, **some, "x": v[first : first + batch]},
            {"y": ((batch, rows), mx.float32)},
            _ceil(rows, 2 if batch > 4 else 4),
            values,
            {"batch": 1 << (batch - 1).bit_length(), "views": 0, "y_type": 0},
        )
        parts.append(made["y"])
    y = parts[0] if len(parts) == 1 else mx.concatenate(parts)
    return y.reshape(shape + (rows,)).astype(x.dtype)

@end
@if gemm

# x becomes halves of matrix units in the order in which weights are decoded: so many words for so many elements.
_OPERAND_TILE, _OPERAND_WORDS = @{operand_tile}, @{operand_words}
_COLUMNS_STEP = @{wide_block}  # columns of W are a multiple of it


def gemm(w, x, bias=None, scale=None, gate=None, residual=None):
    """As `gemv`, for many vectors: on matrix units, with x and weights as halves, each vector and each part of a row in a power
    of two of its own. Two launches: x becomes operands; then tiles of 64 rows are made."""
    arrays, count = _blocks(w)
    cols = x.shape[-1]
    rows, shape = _rows(count, cols), tuple(x.shape[:-1])
    if cols % _COLUMNS_STEP:
        raise ValueError(f"{FORMAT}: there are {cols} columns, which must be a multiple of {_COLUMNS_STEP}; gemv takes others")
    v = _vectors(x).reshape(-1, cols)
    vectors = v.shape[0]
    if vectors == 0:
        return mx.zeros(shape + (rows,), dtype=x.dtype)
    found, bits = _epilogue(scale, bias, gate, residual, vectors, rows, rows)
    kernel, tile_cols, columns = _KERNELS["gemm_" + _type(v.dtype)], 64 if vectors > 32 else 32, 16 * _ceil(vectors, 16)
    words = columns * (1 + 4 * _OPERAND_WORDS * _ceil(_ceil(cols, _OPERAND_TILE), 4))
    values = dict.fromkeys(kernel.push, 0)  # views, which are off
    values.update({"rows": rows, "row_tiles": cols // kernel.tile, "batch": vectors, "y_rows": rows, "epilogue": bits})
    constants = {"schedule": @{schedule.pack}, "tile_cols": tile_cols, "k_parts": 1, "views": 0, "y_type": 0}
    outputs = {"scratch": ((words,), mx.uint32), "y": ((1,), mx.float32)}
    packed = kernel({**arrays, "x": v}, outputs, columns, values, constants)["scratch"]
    made = kernel.reading("scratch")(
        {**arrays, **found, "scratch": packed},
        {"y": ((vectors, rows), mx.float32)},
        _ceil(rows, 64) * _ceil(vectors, tile_cols),
        values,
        {**constants, "schedule": @{schedule.tiles}},
    )
    return made["y"].reshape(shape + (rows,)).astype(x.dtype)

@end
@if matmul

def matmul(w, x, vectors=16):
    """As `gemv`; but where there are more than so many `vectors`, as `gemm`, if this format and these columns have it; else W is
    decoded and MLX multiplies."""
    if x.size // max(1, x.shape[-1]) <= vectors:
        return gemv(w, x)
@if gemm
    if x.shape[-1] % _COLUMNS_STEP == 0:
        return gemm(w, x)
@end
    arrays, count = _blocks(w)
    dtype = x.dtype if x.dtype in _TYPES else mx.float32
    return mx.matmul(x, dequant(w, dtype).reshape(_rows(count, x.shape[-1]), x.shape[-1]).T)

@end
@if gemv_id

def gemv_id(w, x, ids, experts, bias=None, scale=None, gate=None, residual=None):
    """Experts times vectors: W holds `experts` matrices, `ids` has the shape (tokens, slots), and `x` (tokens, columns), or
    (tokens, slots, columns) where each slot has its own. Results are (tokens, slots, rows); those of an id that is no expert
    are zeros. The rest is as in `gemv`, with a `bias` for each row of each expert and a `scale` for each expert or such row."""
    arrays, count = _blocks(w)
    cols, (tokens, slots) = x.shape[-1], ids.shape
    each, rest = divmod(count, experts)
    if rest:
        raise ValueError(f"{FORMAT}: {count} blocks are not shared evenly by {experts} experts")
    rows = _rows(each, cols)
    if tuple(x.shape[:-1]) not in ((tokens,), (tokens, slots)):
        raise ValueError(f"{FORMAT}: x has the shape {tuple(x.shape)}, must have ({tokens}, {cols}) or ({tokens}, {slots}, {cols})")
    if tokens * slots == 0:
        return mx.zeros((tokens, slots, rows), dtype=x.dtype)
    found, bits = _epilogue(scale, bias, gate, residual, tokens * slots, rows, experts * rows)
    v = _vectors(x)
    kernel = _KERNELS["gemv_id_" + _type(v.dtype)]
    values = dict.fromkeys(kernel.push, 0)  # views, which are off
    values.update({
        "rows": rows, "row_tiles": cols // kernel.tile, "batch": tokens, "slots": slots, "x_slots": 1 if x.ndim == 2 else slots,
        "experts": experts, "expert_end": experts, "epilogue": bits,
    })
    inputs = {**arrays, **found, "x": v, "ids": ids.astype(mx.uint32)}
    outputs = {"y": ((tokens, slots, rows), mx.float32), "status": ((1,), mx.uint32)}
    constants = {"views": 0, "y_type": 0}
    return kernel(inputs, outputs, tokens * slots * _ceil(rows, 4), values, constants)["y"].astype(x.dtype)

@end

@{kernels}
