# SPDX-License-Identifier: Apache-2.0
"""The counter-based generator of trireme/base/random.h again, written from its description, over whole numpy arrays."""
import numpy as np

np.seterr(over="ignore")  # arithmetic modulo 2^64 and 2^32 is the point


def mix64(x):
    x = np.asarray(x, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def combine(a, b):
    return mix64(np.asarray(a, np.uint64) ^ mix64(b))


def hash_text(text):
    value = np.uint64(0)
    for byte in text.encode():
        value = combine(value, byte)
    return value


def random_bits(key, index):
    """32 bits for each element of `index` in the stream of a 32-bit key."""
    x = (np.asarray(index, np.uint32) + np.uint32(key)) * np.uint32(0x9E3779B1)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x *= np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def low32(key):
    return np.uint32(int(key) & 0xFFFFFFFF)


def stream_bits(key, count):
    """What RandomStream(key).bits() returns in its first `count` calls."""
    return combine(key, np.arange(count, dtype=np.uint64))


def uniform(key, count, low, high):
    return low + (high - low) * ((stream_bits(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def below(key, count, n):
    return [(int(bits) * n) >> 64 for bits in stream_bits(key, count)]
