#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch's optimizers do to five weights over twelve steps, in double precision.

Run it where PyTorch is installed; the result is committed:  python3 tests/golden/record_optimizers.py
"""
import json
import pathlib

import torch

STEPS = 12
START = [0.5, -1.25, 2.0, 0.001, -3.0]
# Our option names and values, then PyTorch's class and arguments for the same thing.
CASES = [
    ("sgd", {"learning_rate": 0.1}, torch.optim.SGD, {"lr": 0.1}),
    ("sgd", {"learning_rate": 0.05, "momentum": 0.9}, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}),
    ("sgd", {"learning_rate": 0.05, "momentum": 0.9, "nesterov": True}, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("adam", {"learning_rate": 0.01}, torch.optim.Adam, {"lr": 0.01}),
    ("adam", {"learning_rate": 0.02, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, torch.optim.Adam,
     {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-3}),
    ("adamw", {"learning_rate": 0.01, "weight_decay": 0.1}, torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    ("adagrad", {"learning_rate": 0.1}, torch.optim.Adagrad, {"lr": 0.1}),
    ("adagrad", {"learning_rate": 0.1, "initial": 0.1, "epsilon": 1e-7}, torch.optim.Adagrad,
     {"lr": 0.1, "initial_accumulator_value": 0.1, "eps": 1e-7}),
    ("rmsprop", {"learning_rate": 0.01, "epsilon": 1e-7}, torch.optim.RMSprop, {"lr": 0.01, "alpha": 0.9, "eps": 1e-7}),
    ("rmsprop", {"learning_rate": 0.01, "rho": 0.99, "epsilon": 1e-7, "momentum": 0.5}, torch.optim.RMSprop,
     {"lr": 0.01, "alpha": 0.99, "eps": 1e-7, "momentum": 0.5}),
    ("adadelta", {"learning_rate": 1.0}, torch.optim.Adadelta, {"lr": 1.0, "rho": 0.95, "eps": 1e-7}),
    ("adadelta", {"learning_rate": 0.5, "rho": 0.9, "epsilon": 1e-6}, torch.optim.Adadelta, {"lr": 0.5, "rho": 0.9, "eps": 1e-6}),
]


def gradient(weight, step):
    """Pulls to zero, with a wave so that signs and sizes change; optimizer_test.cc computes the same."""
    index = torch.arange(len(START), dtype=torch.float64)
    return 0.5 * weight + torch.sin(step * (index + 1.0))


def record(optimizer_class, arguments):
    weight = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = optimizer_class([weight], **arguments)
    path = []
    for step in range(1, STEPS + 1):
        weight.grad = gradient(weight.detach(), step)
        optimizer.step()
        path.append([round(value, 12) for value in weight.tolist()])
    return path


def main():
    cases = [{"name": name, "options": options, "path": record(cls, arguments)} for name, options, cls, arguments in CASES]
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = '{"recorded_with": "PyTorch %s",\n"start": %s,\n"cases": [\n%s\n]}\n' % (torch.__version__, json.dumps(START), lines)
    pathlib.Path(__file__).with_name("optimizers.json").write_text(text)


if __name__ == "__main__":
    main()
