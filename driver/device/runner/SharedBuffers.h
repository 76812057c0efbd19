// SPDX-License-Identifier: Apache-2.0
// Memory in which the runner leaves a launch's outputs for the judge: anonymous memory of this
// process, which the runner gets as open descriptors and the judge opens by a path in /proc. It is
// freed when both processes have ended, however they end.
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
  /// `folder` is for files, which are used if memory is short or the runner cannot reach it.
  /// `limit` is the most bytes of memory.
  explicit SharedBuffers(std::filesystem::path folder, std::uint64_t limit = defaultLimit());
  ~SharedBuffers();
  SharedBuffers(const SharedBuffers &) = delete;
  SharedBuffers &operator=(const SharedBuffers &) = delete;

  struct Places {
    std::vector<std::string> paths; ///< one for each buffer; empty for a read-only buffer
    std::vector<int> descriptors;   ///< of the non-empty paths; owned by this object
  };
  /// Prepares memory or files as long as the buffers. Their contents are valid until the next call
  /// with the same slot. Fails with Environment.
  Result<Places> prepare(const std::string &slot, const std::vector<Buffer> &buffers);

  /// A path that a process can open if it can reach such memory; empty if memory is not available.
  const std::string &probe() const { return probe_.path; }
  int probeDescriptor() const { return probe_.descriptor; }
  /// Uses only files from now on.
  void useFiles() { limit_ = 0; }

private:
  struct Memory {
    int descriptor = -1;
    std::uint64_t bytes = 0;
    std::string path;
    bool isFile = false;
  };
  /// The result has no descriptor if the machine provides no such memory.
  static Memory make(const std::string &name, std::uint64_t bytes);
  static Result<Memory> makeFile(const std::filesystem::path &path, std::uint64_t bytes);
  void give(Memory &memory);

  std::filesystem::path folder_;
  std::uint64_t limit_, used_ = 0;
  Memory probe_;
  std::map<std::pair<std::string, std::size_t>, Memory> memories_; ///< by slot and buffer
};

} // namespace kopt
