// SPDX-License-Identifier: Apache-2.0
// Files that a worker was sent, by content, so that each is sent to a host once.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// Several workers of a host may use a folder at once.
class FileKeep {
public:
  /// Begins with at most `limit` bytes in `folder`, those that were used last.
  FileKeep(std::filesystem::path folder, std::uintmax_t limit);

  /// Those of these digests that it does not have.
  std::vector<std::string> missing(const std::vector<std::string> &digests) const;
  /// Takes the next bytes of a file of `size` bytes, which begin at byte `at`. Fails with Internal
  /// if they do not follow what it has, or, with the last ones, if the digest is not theirs, and
  /// with Environment.
  Status put(const std::string &digest, std::uint64_t at, std::uint64_t size,
             std::string_view bytes);
  /// Takes a file of this host, and returns its digest. Fails with Environment.
  Result<std::string> adopt(const std::filesystem::path &file);
  /// At most `most` bytes of a file, from byte `at` on. Fails with Environment.
  Result<std::string> part(const std::string &digest, std::uint64_t at, std::uint64_t most) const;
  /// Makes the file at a path, as a hard link where that works. Fails with Environment.
  Status place(const std::string &digest, const std::filesystem::path &path) const;

private:
  std::filesystem::path fileOf(const std::string &digest) const;

  std::filesystem::path folder_;
  std::string part_; ///< of the file that is being sent
};

} // namespace kopt
