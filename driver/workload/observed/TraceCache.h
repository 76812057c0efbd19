// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/source/Subjects.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// Traces of programs below `.kopt/traces`, found again by the kernels' signatures and launch sites
/// and by the bytes of the program and of the files its command names: when one of these changes,
/// so does the key. At most 8 are kept.
class TraceCache {
public:
  explicit TraceCache(std::filesystem::path root) : folder_(std::move(root) / ".kopt" / "traces") {}

  struct Key {
    std::string text;
  };
  /// `kernels`: those that the trace may be about. Fails with Usage where the program is not found.
  static Result<Key> keyOf(const std::vector<std::string> &command,
                           const std::vector<KernelInstance> &kernels);
  std::filesystem::path folderOf(const Key &key) const { return folder_ / key.text; }
  bool holds(const Key &key) const;
  /// The trace in folderOf(key) is whole.
  Status keep(const Key &key) const;

private:
  std::filesystem::path folder_;
};

} // namespace kopt
