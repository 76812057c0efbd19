// SPDX-License-Identifier: Apache-2.0
// A folder of named entries that can be made again. Each is complete or absent.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace kopt::frontend {

/// Nothing here fails: a folder that cannot be written keeps nothing, and a damaged entry counts as
/// absent. Several threads and processes may use a folder at once.
class EntryStore {
public:
  /// `folder` is made with the first entry; if empty, the store keeps nothing.
  explicit EntryStore(std::string folder) : folder_(std::move(folder)) {}

  bool isOpen() const { return !folder_.empty(); }
  /// The bytes kept under `name` (a file name). Marks the entry as recently used.
  std::optional<std::string> load(const std::string &name) const;
  void save(const std::string &name, const std::string &bytes);

  /// To be called once, at the end of a run. If something was saved, removes the least recently
  /// used entries until the others have at most `limit` bytes, and files that killed processes left
  /// behind.
  void trim(std::uint64_t limit) const;

private:
  std::string folder_;
  std::atomic<bool> saved_ = false;
};

} // namespace kopt::frontend
