#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Images a second of PyTorch's DataLoader with torchvision's transforms; the counterpart of input_throughput.

    bench/input_peer.py --cifar FOLDER --threads 1
    bench/input_peer.py --images FOLDER --resize --threads 2

Each set is measured with the usual recipe (PIL images) and with one on tensors; prints both, the caller takes the better.
"""
import argparse
import pathlib
import time

import numpy
import torch
import torchvision
from PIL import Image
from torchvision import transforms

MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)


class Cifar(torch.utils.data.Dataset):
    """50000 images in memory, as torchvision.datasets.CIFAR10 holds them; from its binary files, or noise."""

    def __init__(self, folder, transform, as_image):
        if folder is None:
            self.pixels = numpy.random.default_rng(1).integers(0, 256, (50000, 3, 32, 32), dtype=numpy.uint8)
            self.labels = [i % 10 for i in range(50000)]
        else:
            files = [numpy.fromfile(folder / f"data_batch_{i}.bin", dtype=numpy.uint8).reshape(-1, 3073) for i in range(1, 6)]
            records = numpy.concatenate(files)
            self.labels = records[:, 0].tolist()
            self.pixels = records[:, 1:].reshape(-1, 3, 32, 32)
        if as_image:
            self.pixels = numpy.ascontiguousarray(self.pixels.transpose(0, 2, 3, 1))
        else:
            self.pixels = torch.from_numpy(self.pixels.copy())
        self.transform, self.as_image = transform, as_image

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        pixels = self.pixels[index]
        return self.transform(Image.fromarray(pixels) if self.as_image else pixels), self.labels[index]


def cifar_recipes(settings):
    moves = [transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip()]
    normalize = transforms.Normalize(MEAN, DEVIATION)
    yield "pil", Cifar(settings.cifar, transforms.Compose([*moves, transforms.ToTensor(), normalize]), True)
    yield "tensor", Cifar(settings.cifar, transforms.Compose([*moves, transforms.ConvertImageDtype(torch.float), normalize]), False)


def image_recipes(settings):
    resize = [transforms.Resize((224, 224))] if settings.resize else []
    moves = [*resize, transforms.RandomHorizontalFlip()]
    normalize = transforms.Normalize(MEAN, DEVIATION)
    folder = torchvision.datasets.ImageFolder
    yield "pil", folder(settings.images, transforms.Compose([*moves, transforms.ToTensor(), normalize]))
    decode = torchvision.io.read_image
    tensor_moves = [*([transforms.Resize((224, 224), antialias=True)] if settings.resize else []), moves[-1]]
    yield "tensor", folder(settings.images, transforms.Compose([*tensor_moves, transforms.ConvertImageDtype(torch.float), normalize]), loader=decode)


def best_rate(loader, seconds, batches):
    """Images a second and a second of this process's CPU time: the best of several blocks of half a second and at least so many batches."""
    best, cpu, end = 0.0, 0.0, time.perf_counter() + seconds
    images, count, start, start_cpu, blocks = 0, -8, 0.0, 0.0, 0
    while True:
        for pixels, _ in loader:
            count += 1
            if count <= 0 and blocks == 0:  # a warm-up, also of the worker processes
                start, start_cpu = time.perf_counter(), time.process_time()
                continue
            images += len(pixels)
            now = time.perf_counter()
            if count >= batches and now - start >= 0.5:
                now_cpu = time.process_time()
                best, cpu = max(best, images / (now - start)), max(cpu, images / (now_cpu - start_cpu))
                images, count, start, start_cpu, blocks = 0, 0, now, now_cpu, blocks + 1
                if now > end and blocks >= 2:
                    return best, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cifar", type=pathlib.Path)
    parser.add_argument("--images", type=pathlib.Path)
    parser.add_argument("--resize", action="store_true", help="images to 224 x 224")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1, help="worker processes")
    parser.add_argument("--seconds", type=float, default=3)
    settings = parser.parse_args()
    torch.set_num_threads(1)  # each worker is one thread, as DataLoader makes them
    for name, dataset in (image_recipes if settings.images else cifar_recipes)(settings):
        # A single worker process may lose more by handing batches over than it gains: then the process itself decodes.
        for workers in [0, 1] if settings.threads == 1 else [settings.threads]:
            loader = torch.utils.data.DataLoader(dataset, batch_size=settings.batch, shuffle=True, num_workers=workers,
                                                 persistent_workers=workers > 0, prefetch_factor=4 if workers else 2)
            best, cpu = best_rate(loader, settings.seconds, 12)
            # The CPU time of worker processes is not this one's.
            print(f"{name} workers {workers} best {best:.0f} img/s" + (f" cpu {cpu:.0f} img/s" if workers == 0 else ""), flush=True)


if __name__ == "__main__":
    main()
