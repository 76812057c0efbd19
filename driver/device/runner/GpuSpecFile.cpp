// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/GpuSpecFile.h"

#include "driver/support/Text.h"

#include <algorithm>

namespace kopt {

Result<std::filesystem::path> gpuSpecFile(const std::filesystem::path &folder,
                                          const std::string &name) {
  const std::filesystem::path file = folder / (name + ".txt");
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error))
    return file;
  std::vector<std::string> known;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".txt")
      known.push_back(entry.path().stem().string());
  std::sort(known.begin(), known.end());
  if (known.empty())
    return makeError(ErrorCode::Environment, "there are no GPU descriptions in " + folder.string(),
                     "the installation is incomplete: install kopt again");
  const std::string hint = didYouMean(name, known);
  return makeError(ErrorCode::Usage, "no GPU named '" + name + "' can be modelled",
                   (hint.empty() ? "" : hint + " ") + "known: " + join(known, ", "));
}

} // namespace kopt
