#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records ten plain SGD steps of three networks, computed by PyTorch in double precision, for golden_test.cc.

Run it where PyTorch is installed; the results are committed:  python3 tests/golden/record.py
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

import counter_random as cr
import networks
from layers import Network

STEPS = 10
BATCH = 4
SEEDS = 60  # tried for each network; the one whose first step stays farthest from a kink of the loss is recorded
PROJECTIONS = 4
SAMPLED = 16

# File, network, zoo name and options (lines of TOML, as JSON writes them), input shape, learning rate.
CASES = [
    ("mnist_cnn", networks.mnist_cnn, "mnist_cnn", "", (1, 28, 28), 0.005),
    ("resnet_8", networks.resnet_8, "resnet", r"depth = 8\nbatch_norm_momentum = 0.99", (3, 32, 32), 0.05),
    ("densenet_10", networks.densenet_10, "densenet", r"depth = 10\nbatch_norm_momentum = 0.99", (1, 28, 28), 0.05),
]


def batch(seed, shape):
    count = BATCH * int(np.prod(shape))
    images = cr.uniform(cr.combine(seed, cr.hash_text("images")), count, 0, 1).astype(np.float32)
    labels = cr.below(cr.combine(seed, cr.hash_text("labels")), BATCH, 10)
    return torch.tensor(images.astype(np.float64).reshape((BATCH,) + shape)), torch.tensor(labels)


def sample_keys(seed, step):
    return [cr.combine(cr.combine(seed, step), sample) for sample in range(BATCH)]


def margin(build, shape, seed):
    net = Network(build, seed)
    with torch.no_grad():
        net.run(batch(seed, shape)[0], sample_keys(seed, 0))
    return net.margin


def short(value):
    return float("%.9g" % value)


def projection(values, seed, index, number):
    key = cr.low32(cr.combine(cr.combine(seed, cr.hash_text("projection")), index * PROJECTIONS + number))
    signs = np.where(cr.random_bits(key, np.arange(values.size)) >> np.uint32(31), -1.0, 1.0)
    return float(values @ signs)


def slice_record(name, tensor, seed, index):
    values = tensor.grad.flatten().numpy()
    places = cr.below(cr.combine(seed, cr.hash_text("places of " + name)), SAMPLED, values.size)
    return {
        "name": name,
        "count": int(values.size),
        "norm": short(np.linalg.norm(values)),
        "projections": [short(projection(values, seed, index, number)) for number in range(PROJECTIONS)],
        "places": places,
        "values": [short(values[place]) for place in places],
    }


def state_record(name, tensor):
    values = tensor.numpy()
    return {"name": name, "count": int(values.size), "norm": short(np.linalg.norm(values)), "first": short(values[0])}


def train(net, seed, shape, rate):
    images, labels = batch(seed, shape)
    steps, gradients = [], []
    for step in range(STEPS):
        outputs = net.run(images, sample_keys(seed, step))
        loss, penalty = F.cross_entropy(outputs, labels), net.penalty()
        for tensor in net.slices.values():
            tensor.grad = None
        (loss + penalty).backward()
        steps.append({"loss": short(loss), "penalty": short(penalty), "correct": int((outputs.argmax(1) == labels).sum())})
        if step == 0:
            gradients = [slice_record(name, tensor, seed, index) for index, (name, tensor) in enumerate(net.slices.items())]
        with torch.no_grad():
            for tensor in net.slices.values():
                tensor -= rate * tensor.grad
    return steps, gradients


def record(name, build, model, options, shape, rate):
    seed = max(range(SEEDS), key=lambda candidate: margin(build, shape, candidate))
    net = Network(build, seed)
    steps, gradients = train(net, seed, shape, rate)
    lines = [
        '"recorded_with": "PyTorch %s, double precision"' % torch.__version__,
        '"model": "%s", "options": "%s"' % (model, options),
        '"seed": %d, "batch_size": %d, "learning_rate": %g' % (seed, BATCH, rate),
        '"margin": %.3g' % margin(build, shape, seed),
        '"steps": %s' % json.dumps(steps),
        '"gradients": [\n%s\n]' % ",\n".join(json.dumps(row) for row in gradients),
        '"states": [\n%s\n]' % ",\n".join(json.dumps(state_record(*row)) for row in net.states.items()),
    ]
    pathlib.Path(__file__).with_name(name + ".json").write_text("{%s}\n" % ",\n".join(lines))
    print(name, "seed", seed, "margin %.2g" % margin(build, shape, seed), [round(step["loss"], 4) for step in steps])


if __name__ == "__main__":
    for case in CASES:
        record(*case)
