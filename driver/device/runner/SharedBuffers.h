// SPDX-License-Identifier: Apache-2.0
// Where the runner leaves what a launch wrote, and the judge finds it: anonymous memory of this
// process, which the runner is handed open and the judge opens by a path in /proc. It goes when the
// last of the two processes goes, however they end.
#pragma once

#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kopt {

class SharedBuffers {
public:
  /// An eighth of the machine's memory, in bytes.
  static std::uint64_t defaultLimit();
  /// `folder` is for files, where memory is short or the runner cannot reach it. `limit`: bytes of
  /// memory at most.
  explicit SharedBuffers(std::filesystem::path folder, std::uint64_t limit = defaultLimit());
  ~SharedBuffers();
  SharedBuffers(const SharedBuffers &) = delete;
  SharedBuffers &operator=(const SharedBuffers &) = delete;

  struct Places {
    std::vector<std::string> paths; ///< one per buffer, empty where it is read-only
    std::vector<int> descriptors;   ///< of those that are not empty, in order; this object's
  };
  /// The files are as long as the buffers; what is in them lasts until the next call with the same
  /// slot. Fails with Environment.
  Result<Places> prepare(const std::string &slot, const std::vector<Buffer> &buffers);

  /// A path that a process can open if it can reach such memory; empty if there is none.
  const std::string &probe() const { return probe_.path; }
  int probeDescriptor() const { return probe_.descriptor; }
  /// Only files from now on.
  void useFiles() { limit_ = 0; }

private:
  struct Memory {
    int descriptor = -1;
    std::uint64_t bytes = 0;
    std::string path;
    bool isFile = false;
  };
  /// Without a descriptor where the machine gives none.
  static Memory make(const std::string &name, std::uint64_t bytes);
  static Result<Memory> makeFile(const std::filesystem::path &path, std::uint64_t bytes);
  void give(Memory &memory);

  std::filesystem::path folder_;
  std::uint64_t limit_, used_ = 0;
  Memory probe_;
  std::map<std::pair<std::string, std::size_t>, Memory> memories_; ///< by slot and buffer
};

} // namespace kopt
