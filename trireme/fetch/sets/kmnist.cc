// SPDX-License-Identifier: Apache-2.0
// kmnist: Kuzushiji-MNIST, hiragana in cursive script, of the same form as mnist.
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch::sets {

SetEntry kmnist() {
  return {.name = "kmnist",
          .summary = "cursive hiragana, 1x28x28, 10 classes, 60000 + 10000",
          .reader = "idx",
          // Of the training part only the checksums of the .gz files were published.
          .train = {{.name = "train-images-idx3-ubyte", .bytes = 47040016, .gzip_md5 = "bdb82020997e1d708af4cf47b453dcf7"},
                    {.name = "train-labels-idx1-ubyte", .bytes = 60008, .gzip_md5 = "e144d726b3acfaa3e44228e80efcd344"}},
          .test = {{"t10k-images-idx3-ubyte", 7840016, "bf305b8cd328700fbc17f5acbc2856d2", "5c965bf0a639b31b8f53240b1b52f4d7"},
                   {"t10k-labels-idx1-ubyte", 10008, "9f55f451c0988b028eccdf7d5cc265ab", "7320c461ea6c1c855c0b718fb2a4b134"}},
          .class_names = {"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"},
          .sources = {{.location = "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"}}};
}

}  // namespace trireme::fetch::sets
