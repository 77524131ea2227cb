// SPDX-License-Identifier: Apache-2.0
// Which files a job's data consist of, so that they can be carried to another machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/data/sets/data_options.h"

namespace trireme::data {

struct DataFiles {
  // What a job names, in its order: a file in a folder, or, with an empty name, the whole folder.
  struct Named {
    std::string key;  // "train" or "test"
    std::size_t folder = 0;
    std::filesystem::path name;
  };
  struct File {
    std::size_t folder = 0;
    std::filesystem::path name;  // relative to the folder: "cats/1.png"
  };

  std::vector<std::filesystem::path> folders;  // absolute, each once
  std::vector<Named> named;
  std::vector<File> files;  // each once; what lies below a folder is sorted

  std::filesystem::path path_of(const File& file) const { return folders[file.folder] / file.name; }
};

// None for synthetic sets. Throws not_found if a file or folder that the job names isn't there.
DataFiles data_files(const DataRequest& request);

// Makes the job name the same files in other folders: folders[i] stands for the i-th of `named`'s.
void set_data_folders(Config& job, const std::vector<DataFiles::Named>& named, const std::vector<std::filesystem::path>& folders,
                      const std::string& origin);

}  // namespace trireme::data
