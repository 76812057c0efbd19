// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/source/Subjects.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// What decides which kernels a command launches: the bytes of the program and of the files that
/// the command names. Fails with Usage if the program is not found.
Result<std::string> commandIdentity(const std::vector<std::string> &command);

/// Traces of programs in `.kopt/traces`. The key is made from the kernels' signatures and launch
/// sites, and from the commandIdentity(). At most 8 traces are kept.
class TraceCache {
public:
  explicit TraceCache(std::filesystem::path root) : folder_(std::move(root) / ".kopt" / "traces") {}

  struct Key {
    std::string text;
  };
  /// `kernels` are those that the trace may contain.
  static Key keyOf(const std::string &identity, const std::vector<KernelInstance> &kernels);
  std::filesystem::path folderOf(const Key &key) const { return folder_ / key.text; }
  bool holds(const Key &key) const;
  /// Marks the trace in folderOf(key) as complete, and removes the oldest traces.
  Status keep(const Key &key) const;

private:
  std::filesystem::path folder_;
};

} // namespace kopt
