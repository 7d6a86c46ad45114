"""check.py FORMAT FOLDER COLUMNS WHAT...: takes the module qkgen_FORMAT through the stand-in for MLX, and compares with the library's
values. FOLDER has a file for each buffer, and values.f32. WHAT are calls: dequant_TYPE, gather_TYPE, gemv_TYPE_VECTORS, gemv_id_TYPE,
epilogue, matmul, gemm_TYPE_VECTORS, gemm_epilogue, refuses."""
import importlib
import math
import random
import struct
import sys

import mlx.core as mx

format, folder, cols, whats = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
kernels = importlib.import_module("qkgen_" + format)
types = {"f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16}
noise = random.Random(format)


def read(name):
    with open(f"{folder}/{name}", "rb") as file:
        return file.read()


def fail(sentence):
    sys.exit(f"{format} {what}: {sentence}")


values = mx.array(None, mx.float32, data=read("values.f32"))
rows = values.size // cols
table = [values.tolist()[r * cols : (r + 1) * cols] for r in range(rows)]
blocks = [read(name) for name, _ in kernels.BUFFERS]
# Shapes as people have them: bytes in rows, or words.
w = tuple(mx.array(None, mx.uint8, shape=(rows, len(b) // rows), data=b) for b in blocks)
w = w[0] if len(w) == 1 else w


def same(got, wanted):
    """Bit for bit; but any NaN is any NaN."""
    if got.data == wanted.data:
        return
    for i, (a, b) in enumerate(zip(got.tolist(), wanted.tolist())):
        size = got.dtype.size
        if got.data[i * size : (i + 1) * size] != wanted.data[i * size : (i + 1) * size] and not (a != a and b != b):
            fail(f"element {i} is {a}, must be {b}")


def near(got, vectors, weights, after=lambda v, r, sum, size: (sum, size), part=2.0**-18):
    """Of `weights`, a list of rows for each vector; each sum within its bound: a rounding of each product and each addition, and
    the last rounding to the type of the results. `part` of the terms' magnitudes is the first."""
    got_values = got.tolist()
    last, least = {mx.float32: (2.0**-24, 2.0**-150), mx.float16: (2.0**-11, 2.0**-25), mx.bfloat16: (2.0**-8, 2.0**-134)}[got.dtype]
    for v, x in enumerate(vectors):
        for r, row in enumerate(weights[v]):
            sum = math.fsum(a * b for a, b in zip(row, x))
            sum, size = after(v, r, sum, math.fsum(abs(a * b) for a, b in zip(row, x)))
            error = abs(got_values[v * len(weights[v]) + r] - sum)
            if not error <= part * size + max(last * abs(sum), least):
                fail(f"result {r} of vector {v} is {got_values[v * len(weights[v]) + r]}, must be {sum}, and its terms are {size}")


# Of products of halves: roundings of both factors, of each part of a value.
halves = 2.0**-9


def some(count, dtype):
    a = mx.array([noise.gauss(0, 1) for _ in range(count)], dtype)
    return a, a.tolist()


for what in whats:
    name, *more = what.split("_") if not what.startswith("gemv_id") else ["gemv_id"] + what.split("_")[2:]
    if name == "dequant":
        got = kernels.dequant(w, types[more[0]])
        if got.shape != (rows, cols):
            fail(f"the shape is {got.shape}")
        same(got, values.astype(types[more[0]]))
    elif name == "gather":
        wanted = [3, 0, rows, rows - 1, 3]
        got = kernels.gather(w, mx.array(wanted, mx.int32, shape=(1, 5)), types[more[0]])
        if got.shape != (1, 5, cols):
            fail(f"the shape is {got.shape}")
        each = [v for t in wanted for v in (table[t] if t < rows else [0.0] * cols)]
        same(got, mx.array(each, mx.float32).astype(types[more[0]]))
    elif name == "gemv":
        vectors = int(more[1])
        x, numbers = some(vectors * cols, types[more[0]])
        got = kernels.gemv(w, x.reshape(vectors, cols) if vectors > 1 else x)
        if got.shape != ((vectors, rows) if vectors > 1 else (rows,)) or got.dtype is not x.dtype:
            fail(f"the shape is {got.shape}, the type {got.dtype}")
        near(got, [numbers[v * cols : (v + 1) * cols] for v in range(vectors)], [table] * vectors)
    elif name == "matmul":
        x, numbers = some(3 * cols, mx.float32)
        got = kernels.matmul(w, x.reshape(3, cols), vectors=2)
        near(got, [numbers[v * cols : (v + 1) * cols] for v in range(3)], [table] * 3,
             part=halves if hasattr(kernels, "gemm") else 2.0**-18)
    elif name == "gemm" and more[0] == "epilogue":
        x, numbers = some(3 * cols, mx.float32)
        bias, b = some(rows, mx.float32)
        residual, e = some(3 * rows, mx.float32)
        got = kernels.gemm(w, x.reshape(3, cols), bias=bias, scale=mx.array([0.5], mx.float32), residual=residual.reshape(3, rows))
        near(got, [numbers[v * cols : (v + 1) * cols] for v in range(3)], [table] * 3,
             lambda v, r, sum, size: (0.5 * sum + b[r] + e[v * rows + r], 0.5 * size + abs(b[r]) + abs(e[v * rows + r])), halves)
    elif name == "gemm":
        vectors = int(more[1])
        x, numbers = some(vectors * cols, types[more[0]])
        got = kernels.gemm(w, x.reshape(vectors, cols))
        if got.shape != (vectors, rows) or got.dtype is not x.dtype:
            fail(f"the shape is {got.shape}, the type {got.dtype}")
        near(got, [numbers[v * cols : (v + 1) * cols] for v in range(vectors)], [table] * vectors, part=halves)
    elif name == "gemv_id":
        # Experts of two rows each; an id that is none.
        experts, each = rows // 2, 2
        ids = [1, 0, experts, experts - 1, 2, 2]
        for own in (False, True):
            x, numbers = some((6 if own else 3) * cols, types[more[0]])
            got = kernels.gemv_id(w, x.reshape((3, 2, cols) if own else (3, cols)), mx.array(ids, mx.int32, shape=(3, 2)), experts)
            if got.shape != (3, 2, each):
                fail(f"the shape is {got.shape}")
            pairs = range(6) if own else [0, 0, 1, 1, 2, 2]
            near(got, [numbers[p * cols : (p + 1) * cols] for p in pairs],
                 [table[2 * i : 2 * i + 2] if i < experts else [[0.0] * cols] * 2 for i in ids])
    elif name == "epilogue":
        x, numbers = some(2 * cols, mx.float32)
        bias, b = some(rows, mx.float32)
        gate, g = some(2 * rows, mx.float32)
        residual, e = some(2 * rows, mx.float32)
        for scale in (mx.array([0.5], mx.float32), some(rows, mx.float32)[0]):
            s = scale.tolist() * (rows // scale.size)
            got = kernels.gemv(w, x.reshape(2, cols), bias=bias, scale=scale, gate=gate.reshape(2, rows),
                               residual=residual.reshape(2, rows))

            def after(v, r, sum, size):
                silu = g[v * rows + r] / (1 + math.exp(-g[v * rows + r]))
                size = (size * abs(s[r]) + 2 * abs(b[r])) * abs(silu) + 2 * abs(e[v * rows + r])
                return (sum * s[r] + b[r]) * silu + e[v * rows + r], size

            near(got, [numbers[:cols], numbers[cols:]], [table] * 2, after)
    elif name == "refuses":
        x = mx.zeros((cols,))
        for call, why in (
            (lambda: kernels.gemv((mx.zeros((3,), mx.uint8),) * len(blocks), x), "bytes, which are no blocks"),
            (lambda: kernels.gemv(w, mx.zeros((cols + 1,))), "are no rows of"),
            (lambda: kernels.gemv((w, w, w, w, w), x), "buffers"),
            (lambda: kernels.gemv(w, x, bias=mx.zeros((rows + 1,))), "row_bias has"),
            (lambda: kernels.dequant(w, mx.int32), "results are float32"),
            (lambda: kernels.gemm(w, mx.zeros((2, cols + 1))), "are no rows of"),
            (lambda: kernels.gemv_id(w, x, mx.zeros((1, 1), mx.int32), rows + 1), "shared evenly"),
            (lambda: kernels.gemv_id(w, mx.zeros((3, cols)), mx.zeros((1, 1), mx.int32), rows), "x has the shape"),
        ):
            try:
                call()
            except ValueError as error:
                if why not in str(error):
                    fail(f"says '{error}', and not '{why}'")
            else:
                fail(f"nothing says '{why}'")
    else:
        fail("is nothing that can be checked")
print(f"{format}: {' '.join(whats)}")
