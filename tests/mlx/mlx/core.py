"""A stand-in for `mlx.core`: arrays in a process's memory, and `fast.metal_kernel`, whose kernels the executor of Metal text
runs (tests/msl). It writes around a body what MLX writes, checks what MLX checks, and is strict where MLX trusts the caller: sizes of
32 bits, integers, grids that are whole threadgroups.

Facts of MLX (mlx/backend/common/metal_kernel.cpp and mlx/backend/metal/custom_kernel.cpp, commit 846d1762):
* An input is `const device T *`, or `const constant T *` with fewer than 8 elements, and a reference with no dimension.
* Behind an input NAME stand its NAME_shape, NAME_strides and NAME_ndim, each if the body has that word anywhere in it.
* Then come the outputs, and those attributes of a thread whose names the body has anywhere in it.
* Template arguments are int, bool or typename; the kernel is then instantiated once, and the name tells them all.
* The grid counts threads; a threadgroup is never larger than the grid.
"""
import os
import re
import struct
import subprocess
import tempfile


class Dtype:
    def __init__(self, name, size, text, code):
        self.name, self.size, self.text, self.code = name, size, text, code

    def __repr__(self):
        return "mlx.core." + self.name


float32 = Dtype("float32", 4, "float", "f")
float16 = Dtype("float16", 2, "float16_t", "e")
bfloat16 = Dtype("bfloat16", 2, "bfloat16_t", None)
uint8 = Dtype("uint8", 1, "uint8_t", "B")
uint16 = Dtype("uint16", 2, "uint16_t", "H")
uint32 = Dtype("uint32", 4, "uint32_t", "I")
int32 = Dtype("int32", 4, "int32_t", "i")


def _to_half(x):
    try:
        return struct.pack("<e", x)
    except OverflowError:
        return struct.pack("<H", 0x7C00 | (0x8000 if x < 0 else 0))


def _to_bfloat(x):
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    if x != x:
        return struct.pack("<H", 0x7FC0)
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def _pack(values, dtype):
    if dtype is float16:
        return b"".join(map(_to_half, values))
    if dtype is bfloat16:
        return b"".join(map(_to_bfloat, values))
    return struct.pack(f"<{len(values)}{dtype.code}", *values)


class array:
    """`data` are bytes; else `value` is a list of numbers."""

    def __init__(self, value, dtype=float32, shape=None, data=None):
        self.data = data if data is not None else _pack(value, dtype)
        self.dtype = dtype
        self.shape = tuple(shape) if shape is not None else (len(self.data) // dtype.size,)
        if _count(self.shape) * dtype.size != len(self.data):
            raise ValueError(f"{len(self.data)} bytes are no {self.shape} of {dtype}")

    size = property(lambda self: _count(self.shape))
    ndim = property(lambda self: len(self.shape))
    nbytes = property(lambda self: len(self.data))

    def tolist(self):
        if self.dtype is bfloat16:
            halves = struct.unpack(f"<{self.size}H", self.data)
            return list(struct.unpack(f"<{self.size}f", struct.pack(f"<{self.size}I", *(h << 16 for h in halves))))
        return list(struct.unpack(f"<{self.size}{self.dtype.code}", self.data))

    def reshape(self, *shape):
        shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if -1 in shape:
            shape = tuple(self.size // max(1, -_count(shape)) if n == -1 else n for n in shape)
        return array(None, self.dtype, shape, self.data)

    def astype(self, dtype):
        if dtype is self.dtype:
            return self
        values = self.tolist()
        if dtype is uint32:
            values = [int(v) & 0xFFFFFFFF for v in values]
        return array(values, dtype, self.shape)

    def __getitem__(self, part):
        first, last, step = part.indices(self.shape[0])
        each = self.nbytes // max(1, self.shape[0])
        assert step == 1
        return array(None, self.dtype, (max(0, last - first),) + self.shape[1:], self.data[first * each : last * each])

    @property
    def T(self):
        rows, cols = self.shape
        size = self.dtype.size
        return array(None, self.dtype, (cols, rows), b"".join(
            self.data[(r * cols + c) * size : (r * cols + c + 1) * size] for c in range(cols) for r in range(rows)))


def _count(shape):
    n = 1
    for side in shape:
        n *= side
    return n


def zeros(shape, dtype=float32):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return array(None, dtype, shape, bytes(_count(shape) * dtype.size))


def concatenate(arrays, axis=0):
    first = arrays[0]
    assert axis == 0 and all(a.dtype is first.dtype and a.shape[1:] == first.shape[1:] for a in arrays)
    return array(None, first.dtype, (sum(a.shape[0] for a in arrays),) + first.shape[1:], b"".join(a.data for a in arrays))


def matmul(a, b):
    left, right, (k, n) = a.reshape(-1, a.shape[-1]), b.tolist(), b.shape
    values = left.tolist()
    made = [sum(values[r * k + i] * right[i * n + c] for i in range(k)) for r in range(left.shape[0]) for c in range(n)]
    return array(made, a.dtype, a.shape[:-1] + (n,))


# ---- fast.metal_kernel ----

_THREE = ("dispatch_threads_per_threadgroup", "grid_origin", "grid_size", "thread_position_in_grid", "thread_position_in_threadgroup",
          "threadgroup_position_in_grid", "threadgroups_per_grid", "threads_per_grid", "threads_per_threadgroup")
_ONE = ("dispatch_quadgroups_per_threadgroup", "dispatch_simdgroups_per_threadgroup", "quadgroup_index_in_threadgroup",
        "quadgroups_per_threadgroup", "simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup", "thread_execution_width",
        "thread_index_in_quadgroup", "thread_index_in_simdgroup", "thread_index_in_threadgroup", "threads_per_simdgroup")

# What MLX puts before all kernels, of which only the names of its types matter here.
_BEFORE = "#include <metal_stdlib>\nusing namespace metal;\ntypedef half float16_t;\ntypedef bfloat bfloat16_t;\n"


class _Kernel:
    def __init__(self, name, input_names, output_names, source, header, atomic_outputs):
        if not output_names:
            raise ValueError("[metal_kernel] an output is needed")
        self.name, self.inputs, self.outputs, self.source = name, input_names, output_names, source
        self.header, self.atomic = header, atomic_outputs
        if re.search(r"\bconstant [\w:]+ &", header + source):
            raise RuntimeError(f"{name} has references into constant memory, and nothing that it could bind to them is there")
        self.attributes = sorted(n for n in _THREE + _ONE if n in source)

    def __call__(self, *, inputs, output_shapes, output_dtypes, grid, threadgroup, template=None, init_value=None,
                 verbose=False, stream=None):
        for found, names in ((inputs, self.inputs), (output_shapes, self.outputs), (output_dtypes, self.outputs)):
            if len(found) != len(names):
                raise ValueError(f"[metal_kernel] {len(found)} for {names}")
        template = template or []
        for _, value in template:
            if not isinstance(value, (bool, int, Dtype)):
                raise ValueError("[metal_kernel] a template argument is a Dtype, an int or a bool")
        assert all(isinstance(n, int) and 0 < n < 1 << 31 for n in tuple(grid) + tuple(threadgroup)), "a grid is positive integers"
        assert all(g % min(g, t) == 0 for g, t in zip(grid, threadgroup)), "the last threadgroup is cut off"
        return _execute(*self.text(inputs, output_dtypes, template), inputs, output_shapes, output_dtypes, grid, threadgroup, init_value)

    def text(self, inputs, output_dtypes, template):
        """The name of the kernel, its text, and what is bound, in order: inputs, their shapes and the like, outputs."""
        arguments = [v.text if isinstance(v, Dtype) else str(int(v)) for _, v in template]
        name = "custom_kernel_" + self.name + "".join("_" + a for a in arguments)
        signature, bound = [], []
        for given, a in zip(self.inputs, inputs):
            space = "constant" if a.size < 8 else "device"
            # Address spaces are no types to the executor.
            if space == "constant" and re.search(r"\(device [^()]*\*\)" + given + r"\b", self.source):
                raise RuntimeError(f"{self.name} takes {given}, of {a.size} elements, for device memory")
            name += "_" + a.dtype.text + ("s" if a.ndim == 0 else "c" if a.size < 8 else "")
            signature.append(f"const {space} {a.dtype.text}{'*' if a.ndim else '&'} {given}")
            bound.append(a.data)
            strides = [_count(a.shape[i + 1 :]) for i in range(a.ndim)]
            for word, text, data in (("_shape", "const constant int* ", struct.pack(f"<{a.ndim}i", *a.shape)),
                                     ("_strides", "const constant int64_t* ", struct.pack(f"<{a.ndim}q", *strides)),
                                     ("_ndim", "const constant int& ", struct.pack("<i", a.ndim))):
                if a.ndim and given + word in self.source:
                    signature.append(text + given + word)
                    bound.append(data)
        for given, dtype in zip(self.outputs, output_dtypes):
            name += "_" + dtype.text
            signature.append(f"device {'atomic<' + dtype.text + '>' if self.atomic else dtype.text}* {given}")
        lines = [f"  {s} [[buffer({i})]]" for i, s in enumerate(signature)]
        lines += [f"  {'uint3' if n in _THREE else 'uint'} {n} [[{n}]]" for n in self.attributes]
        kinds = ["typename" if isinstance(v, Dtype) else "bool" if isinstance(v, bool) else "int" for _, v in template]
        parameters = ", ".join(f"{kind} {n}" for kind, (n, _) in zip(kinds, template))
        head = (f"template <{parameters}>\n" if template else "") + f"[[kernel]] void {name}(\n"
        text = _BEFORE + self.header + head + ",\n".join(lines) + ") {\n" + self.source + "\n}\n"
        if template:
            made = f"{name}<{', '.join(arguments)}>"
            text += f'\ntemplate [[host_name("{name}")]] [[kernel]] decltype({made}) {made};\n'
        return name, text, bound


def _execute(name, text, bound, inputs, shapes, dtypes, grid, threadgroup, init_value):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.metal")
        with open(path, "w") as file:
            file.write(text)
        command = [os.environ["QKGEN_MSL"], path, "--kernel", name, "--grid", ",".join(map(str, grid)),
                   "--group", ",".join(str(min(g, t)) for g, t in zip(grid, threadgroup)), "--order", os.environ.get("ORDER", "forward")]
        for i, data in enumerate(bound):
            with open(os.path.join(folder, str(i)), "wb") as file:
                file.write(data)
            command += ["--buffer", f"{i}={folder}/{i}"]
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes), len(bound)):
            data = _pack([init_value] * _count(shape), dtype) if init_value is not None else b"\xa5" * (_count(shape) * dtype.size)
            with open(os.path.join(folder, str(i)), "wb") as file:
                file.write(data)
            command += ["--buffer", f"{i}={folder}/{i}", "--out", f"{i}={folder}/{i}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        made = []
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes), len(bound)):
            with open(os.path.join(folder, str(i)), "rb") as file:
                made.append(array(None, dtype, shape, file.read()))
        return made


class fast:
    @staticmethod
    def metal_kernel(name, input_names, output_names, source, header="", ensure_row_contiguous=True, atomic_outputs=False,
                     compile_options=None):
        assert ensure_row_contiguous and compile_options in (None, {"math_mode": "safe"}), "what results rely on"
        assert len(set(input_names + output_names)) == len(input_names + output_names)
        return _Kernel(name, input_names, output_names, source, header, atomic_outputs)
