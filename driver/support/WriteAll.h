// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace kopt {

/// Writes all of it to a file descriptor; false if nobody reads any more.
inline bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(std::size_t(written));
  }
  return true;
}

} // namespace kopt
