// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/ModuleFile.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

namespace {

/// Why the file is not even read; empty: it is. A missing file is found when it is read.
std::string refusalOf(const std::filesystem::path &module) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(module, error);
  if (error || !std::filesystem::exists(status))
    return {};
  // A link or a pipe could lead kopt to read anything.
  if (!std::filesystem::is_regular_file(status))
    return "the compiler wrote something that is not a plain file";
  const std::uintmax_t bytes = std::filesystem::file_size(module, error);
  if (!error && bytes > kLargestModule)
    return fmt::format("the module has {}, more than {}", formatBytes(double(bytes)),
                       formatBytes(double(kLargestModule)));
  return {};
}

} // namespace

Result<BuildOutcome> withModule(BuildOutcome outcome, const std::filesystem::path &module,
                                const CheckImage &check) {
  std::string refusal = refusalOf(module);
  if (refusal.empty()) {
    KOPT_TRY(const std::string bytes, readFile(module));
    KOPT_TRY(const ElfImage image, ElfImage::parse(bytes));
    if (check)
      refusal = check(image);
    if (refusal.empty()) {
      outcome.ok = true;
      outcome.module = module;
      outcome.hash = image.codeHash();
      outcome.externals = image.externals();
      return outcome;
    }
  }
  outcome.log += fmt::format("error: {}\n", refusal);
  return outcome;
}

} // namespace kopt
