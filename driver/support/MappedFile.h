// SPDX-License-Identifier: Apache-2.0
// A file's content mapped into memory.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string_view>

namespace kopt {

class MappedFile {
public:
  /// Maps the whole file for reading. The file must not become shorter during the lifetime of the
  /// object. Fails with Environment, naming the path and the reason.
  static Result<MappedFile> open(const std::filesystem::path &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

} // namespace kopt
