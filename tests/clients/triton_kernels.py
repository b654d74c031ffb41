"""Triton without PyTorch: kernels that Triton compiles for the device, checked against NumPy.

usage: triton_kernels.py [NAME...]; TRITON_LIBHIP_PATH names the HIP library.
"""

import ctypes
import os
import sys

import numpy as np
import triton
import triton.language as tl
from triton.backends.amd import driver as amd

hip = ctypes.CDLL(os.environ["TRITON_LIBHIP_PATH"])


def check(status):
    if status != 0:
        raise RuntimeError(f"HIP error {status}")


class Driver(amd.HIPDriver):
    """Triton's HIP driver asks PyTorch for the device and the stream; here they are the first device and the null stream."""

    def __init__(self):
        self.get_device_capability = lambda device: (0, 0)
        self.get_current_stream = lambda device: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None
        self.utils = amd.HIPUtils()
        self.launcher_cls = amd.HIPLauncher


TYPES = {"float32": "fp32", "float16": "fp16", "int32": "i32", "int8": "i8", "uint16": "bf16"}


class Array:
    """Device memory with the bytes of a NumPy array; words of 16 bits stand for bf16."""

    def __init__(self, values):
        values = np.ascontiguousarray(values)
        self.shape, self.host_type, self.bytes = values.shape, values.dtype, values.nbytes
        self.dtype = TYPES[str(values.dtype)]
        memory = ctypes.c_void_p()
        check(hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(self.bytes)))
        self.memory = memory.value
        check(hip.hipMemcpy(memory, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.bytes), 1))

    def __del__(self, free=hip.hipFree, pointer=ctypes.c_void_p):
        free(pointer(self.memory))

    def data_ptr(self):
        return self.memory

    def read(self):
        values = np.empty(self.shape, self.host_type)
        check(hip.hipDeviceSynchronize())
        source = ctypes.c_void_p(self.memory)
        check(hip.hipMemcpy(values.ctypes.data_as(ctypes.c_void_p), source, ctypes.c_size_t(self.bytes), 2))
        return values


def to_bf16(values):
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(words):
    return (words.astype(np.uint32) << 16).view(np.float32)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    tl.store(out + index, tl.load(x + index, mask) + tl.load(y + index, mask), mask)


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < n
    values = tl.load(x + row * n + column, mask, other=-float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + column, values / tl.sum(values, 0), mask)


@triton.jit
def matmul_kernel(a, b, c, n, k, BLOCK: tl.constexpr, SUM: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=SUM)
    for start in range(0, k, BLOCK):
        left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total, input_precision="ieee", out_dtype=SUM)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def layer_norm_kernel(x, weight, bias, out, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < n
    values = tl.load(x + row * n + column, mask, other=0.0)
    difference = tl.where(mask, values - tl.sum(values, 0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(difference * difference, 0) / n + epsilon)
    result = difference * scale * tl.load(weight + column, mask) + tl.load(bias + column, mask)
    tl.store(out + row * n + column, result, mask)


@triton.jit
def attention_kernel(q, k, v, out, scale, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    base = tl.program_id(1) * n * DEPTH
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    columns = tl.arange(0, BLOCK)
    query = tl.load(q + base + rows[:, None] * DEPTH + depth[None, :])
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    weights = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, DEPTH), tl.float32)
    for start in range(0, n, BLOCK):
        key = tl.load(k + base + (start + columns)[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(query, key) * scale
        larger = tl.maximum(largest, tl.max(scores, 1))
        part = tl.exp(scores - larger[:, None])
        correction = tl.exp(largest - larger)
        weights = weights * correction + tl.sum(part, 1)
        value = tl.load(v + base + (start + columns)[:, None] * DEPTH + depth[None, :])
        total = tl.dot(part.to(value.dtype), value, total * correction[:, None])
        largest = larger
    tl.store(out + base + rows[:, None] * DEPTH + depth[None, :], total / weights[:, None])


@triton.jit
def atomics_kernel(x, counts, total, largest, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < n
    values = tl.load(x + index, mask, other=0)
    tl.atomic_add(counts + values, 1, mask)
    tl.atomic_add(total, tl.sum(values.to(tl.float32), 0))
    tl.atomic_max(largest, tl.max(values, 0))


random = np.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def close(name, got, want, bound):
    got, want = got.astype(np.float64), want.astype(np.float64)
    error = float(np.max(np.abs(got - want) / (1 + np.abs(want))))
    print(f"{name}: largest error {error:.3g}", flush=True)
    if not error <= bound:
        raise AssertionError(f"{name}: {error} is more than {bound}")


def zeros(*shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))


def add():
    n = 1000
    x, y, out = normal(n), normal(n), zeros(n)
    add_kernel[(triton.cdiv(n, 256),)](Array(x), Array(y), out, n, BLOCK=256)
    close("add", out.read(), x + y, 0)


def softmax():
    x, out = normal(8, 300), zeros(8, 300)
    softmax_kernel[(8,)](Array(x), out, 300, BLOCK=512)
    want = np.exp(x - x.max(1, keepdims=True))
    close("softmax", out.read(), want / want.sum(1, keepdims=True), 1e-6)


def matmul(name, convert, back, integer=False, bound=1e-5):
    n, k = 64, 96
    a, b = convert(normal(n, k)), convert(normal(k, n))
    c = zeros(n, n, dtype=np.int32 if integer else np.float32)
    kernel = matmul_kernel[(n // 32, n // 32)]
    kernel(Array(a), Array(b), c, n, k, BLOCK=32, SUM=tl.int32 if integer else tl.float32)
    close(name, c.read(), back(a).astype(np.float64) @ back(b).astype(np.float64), bound)


def matmul_f32():
    matmul("matmul_f32", lambda x: x, lambda x: x)


def matmul_f16():
    # Matrix instructions of gfx90a take subnormal halves for zero.
    matmul("matmul_f16", lambda x: x.astype(np.float16), lambda x: x, bound=3e-4)


def matmul_bf16():
    matmul("matmul_bf16", to_bf16, from_bf16)


def matmul_i8():
    matmul("matmul_i8", lambda x: (x * 40).clip(-128, 127).astype(np.int8), lambda x: x, integer=True, bound=0)


def layer_norm():
    x, weight, bias, out = normal(6, 200), normal(200), normal(200), zeros(6, 200)
    layer_norm_kernel[(6,)](Array(x), Array(weight), Array(bias), out, 200, 1e-5, BLOCK=256)
    difference = x - x.mean(1, keepdims=True)
    close("layer_norm", out.read(), difference / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias, 1e-5)


def attention():
    heads, n, depth = 2, 64, 32
    q, k, v = (normal(heads, n, depth).astype(np.float16) for _ in range(3))
    out, scale = zeros(heads, n, depth), depth**-0.5
    attention_kernel[(n // 32, heads)](Array(q), Array(k), Array(v), out, scale, n, BLOCK=32, DEPTH=depth)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * scale
    want = np.exp(scores - scores.max(2, keepdims=True))
    close("attention", out.read(), want / want.sum(2, keepdims=True) @ v, 2e-3)


def atomics():
    n = 2000
    x = random.integers(0, 16, n).astype(np.int32)
    counts, total, largest = zeros(16, dtype=np.int32), zeros(1), zeros(1, dtype=np.int32)
    atomics_kernel[(triton.cdiv(n, 256),)](Array(x), counts, total, largest, n, BLOCK=256)
    got = np.concatenate([counts.read(), total.read(), largest.read()])
    close("atomics", got, np.concatenate([np.bincount(x, minlength=16), [x.sum()], [x.max()]]), 0)


TESTS = (add, softmax, matmul_f32, matmul_f16, matmul_bf16, matmul_i8, layer_norm, attention, atomics)

if __name__ == "__main__":
    triton.runtime.driver.set_active(Driver())
    chosen = sys.argv[1:] or [test.__name__ for test in TESTS]
    for test in TESTS:
        if test.__name__ in chosen:
            test()
    print("PASSED")
