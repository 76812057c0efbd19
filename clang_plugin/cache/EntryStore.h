// SPDX-License-Identifier: Apache-2.0
// A folder of things that can be made again: each has a name and is whole or not there.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace kopt::frontend {

/// Nothing here fails: a folder that cannot be written keeps nothing, a damaged entry is none. Safe
/// from several threads and processes.
class EntryStore {
public:
  /// `folder` is made when the first entry is; an empty name is a store that keeps nothing.
  explicit EntryStore(std::string folder) : folder_(std::move(folder)) {}

  bool isOpen() const { return !folder_.empty(); }
  /// The bytes kept under `name` (a file name), which then count as used just now.
  std::optional<std::string> load(const std::string &name) const;
  void save(const std::string &name, const std::string &bytes);

  /// Once at the end of a run: where something was saved, removes the entries that have not been
  /// used for longest until the rest has at most `limit` bytes, and what killed processes left
  /// behind.
  void trim(std::uint64_t limit) const;

private:
  std::string folder_;
  std::atomic<bool> saved_ = false;
};

} // namespace kopt::frontend
