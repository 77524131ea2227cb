// SPDX-License-Identifier: Apache-2.0
// fashion_mnist: pictures of clothes by Zalando, of the same form as mnist and harder.
#include "trireme/fetch/archive.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch::sets {

SetEntry fashion_mnist() {
  return {.name = "fashion_mnist",
          .summary = "pictures of clothes, 1x28x28, 10 classes, 60000 + 10000",
          .reader = "idx",
          .train = {{"train-images-idx3-ubyte", 47040016, "f4a8712d7a061bf5bd6d2ca38dc4d50a"},
                    {"train-labels-idx1-ubyte", 60008, "9018921c3c673c538a1fc5bad174d6f9"}},
          .test = {{"t10k-images-idx3-ubyte", 7840016, "8181f5470baa50b63fa0f6fddb340f0a"},
                   {"t10k-labels-idx1-ubyte", 10008, "15d484375f8d13e6eb1aabb0c3f46965"}},
          .class_names = {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
          .sources = {{.location = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
                      {.registry = Registry::debian, .location = "dataset-fashion-mnist", .unpack = unpack_standard_files}}};
}

}  // namespace trireme::fetch::sets
