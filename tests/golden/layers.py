# SPDX-License-Identifier: Apache-2.0
"""Layers in double precision on PyTorch, with the names, slices, borders and random numbers that Trireme gives them."""
import numpy as np
import torch
import torch.nn.functional as F

import counter_random as cr


class Network:
    """Runs a network function and keeps its parameters; they are made when a layer is first met, so their order is the graph's."""

    def __init__(self, build, seed):
        self.build = build
        self.seed = seed
        self.slices = {}  # name -> tensor
        self.l2 = {}
        self.states = {}

    def run(self, images, sample_keys):
        self.counts = {}
        self.scope = ""  # automatic names begin with it
        self.sample_keys = sample_keys
        self.margin = float("inf")
        return self.build(self, images)

    def penalty(self):
        return sum((l2 * self.slices[name].square().sum() for name, l2 in self.l2.items()), torch.zeros((), dtype=torch.float64))

    def name_of(self, op):
        stem = self.scope + "/" + op if self.scope else op
        self.counts[stem] = self.counts.get(stem, 0) + 1
        return "%s_%d" % (stem, self.counts[stem])

    def slice(self, name, shape, low, high):
        if name not in self.slices:
            count = int(np.prod(shape))
            values = cr.uniform(cr.combine(self.seed, cr.hash_text(name)), count, low, high).astype(np.float32)
            self.slices[name] = torch.tensor(values.astype(np.float64).reshape(shape), requires_grad=True)
        return self.slices[name]

    def kernel(self, layer, shape, l2):
        limit = (6.0 / np.prod(shape[1:])) ** 0.5
        if l2:
            self.l2[layer + "/kernel"] = l2
        return self.slice(layer + "/kernel", shape, -limit, limit)

    def bias(self, layer, count, bias):
        return self.slice(layer + "/bias", (count,), -0.1, 0.1) if bias else None

    def conv2d(self, x, filters, kernel, stride=1, padding="valid", bias=True, l2=0.0):
        layer = self.name_of("conv2d")
        weight = self.kernel(layer, (filters, x.shape[1], kernel, kernel), l2)
        bias = self.bias(layer, filters, bias)
        if padding == "same":
            x = F.pad(x, same_border(x.shape[3], kernel, stride) + same_border(x.shape[2], kernel, stride))
        return F.conv2d(x, weight, bias, stride)

    def dense(self, x, units, bias=True):
        layer = self.name_of("dense")
        weight = self.kernel(layer, (units, x.shape[1]), 0.0)
        return F.linear(x, weight, self.bias(layer, units, bias))

    def batch_norm(self, x, epsilon=1e-3, momentum=0.99):
        layer = self.name_of("batch_norm")
        gamma = self.slice(layer + "/gamma", (x.shape[1],), 0.8, 1.2)
        beta = self.slice(layer + "/beta", (x.shape[1],), -0.1, 0.1)
        mean = x.mean((0, 2, 3))
        variance = x.var((0, 2, 3), unbiased=False)
        for state, start, value in (("mean", 0.0, mean), ("variance", 1.0, variance)):
            key = layer + "/" + state
            old = self.states.get(key, torch.full_like(value, start))
            self.states[key] = momentum * old + (1 - momentum) * value.detach()
        scaled = (x - mean[:, None, None]) / (variance[:, None, None] + epsilon).sqrt()
        return scaled * gamma[:, None, None] + beta[:, None, None]

    def relu(self, x):
        self.note_margin(x.detach().abs(), x)
        return F.relu(x)

    def max_pool(self, x, extent):
        windows = F.unfold(x.detach().flatten(0, 1)[:, None], extent, stride=extent)
        best = windows.topk(2, dim=1).values
        gap = best[:, 0] - best[:, 1]
        self.note_margin(gap[best[:, 0] > 0], x)  # all zeros: no gradient passes the ReLU before anyway
        return F.max_pool2d(x, extent)

    def note_margin(self, distance, x):
        """How near, relative to usual values, a kink of the loss is: there, rounding may turn a gradient on or off."""
        scale = x.detach().square().mean().sqrt()
        self.margin = min(self.margin, float(distance.min() / scale))

    def dropout(self, x, rate):
        layer = self.name_of("dropout")
        count = int(np.prod(x.shape[1:]))
        threshold = np.uint32(rate * 2.0**32)
        keys = [cr.low32(cr.combine(key, cr.hash_text(layer))) for key in self.sample_keys]
        kept = np.stack([cr.random_bits(key, np.arange(count)) >= threshold for key in keys])
        return x * torch.tensor(kept.astype(np.float64)).view(x.shape) / (1 - rate)


def same_border(extent, kernel, stride):
    """TensorFlow's border (before, after): an odd rest goes to the bottom right."""
    outputs = -(-extent // stride)
    total = max(0, (outputs - 1) * stride + kernel - extent)
    return total // 2, total - total // 2
