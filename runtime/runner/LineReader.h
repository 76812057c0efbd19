// SPDX-License-Identifier: Apache-2.0
// Lines of a descriptor, with the descriptors that came with them.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace kopt::runtime {

class LineReader {
public:
  /// Reads from a socket, or anything else that can be read; not closed here.
  explicit LineReader(int from) : from_(from) {}
  /// The next line without its newline. `descriptors` came with it: they are the caller's to close.
  /// False at the end.
  bool next(std::string &line, std::vector<int> &descriptors);

private:
  ssize_t receive(char *bytes, std::size_t size);

  int from_;
  std::string pending_;
  std::vector<int> received_;
};

/// False where the other side is gone.
bool writeAll(int to, const std::string &text);

} // namespace kopt::runtime
