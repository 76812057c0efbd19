// SPDX-License-Identifier: Apache-2.0
// Messages of one line each, on open files.
#pragma once

#include <array>
#include <cerrno>
#include <functional>
#include <poll.h>
#include <string>
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

/// Gives each line to `receive` until the file ends or `stop`, which is asked five times a second,
/// says so. Of a line longer than `longest` bytes `receive` gets the beginning.
inline void readLines(int file, std::size_t longest,
                      const std::function<void(std::string_view)> &receive,
                      const std::function<bool()> &stop) {
  std::string line;
  std::array<char, 65536> block;
  for (;;) {
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, 200);
    if (stop())
      return;
    if (ready == 0 || (ready < 0 && errno == EINTR))
      continue;
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return;
    std::string_view rest(block.data(), std::size_t(got));
    for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      receive(line.append(rest.substr(0, end)));
      line.clear();
      rest.remove_prefix(end + 1);
    }
    if (line.size() < longest)
      line += rest;
  }
}

} // namespace kopt
