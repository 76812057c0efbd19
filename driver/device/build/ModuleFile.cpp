// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/ModuleFile.h"

#include "driver/device/Toolchain.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

Result<ModuleFile> readModule(const std::filesystem::path &path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  ModuleFile module;
  if (!error && std::filesystem::exists(status)) {
    // A link or a pipe could lead kopt to read anything.
    if (!std::filesystem::is_regular_file(status)) {
      module.refusal = "the compiler wrote something that is not a plain file";
      return module;
    }
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (!error && bytes > kLargestModule) {
      module.refusal = fmt::format("the module has {}, more than {}", formatBytes(double(bytes)),
                                   formatBytes(double(kLargestModule)));
      return module;
    }
  }
  KOPT_TRY(module.bytes, readFile(path));
  return module;
}

} // namespace kopt
