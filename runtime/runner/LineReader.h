// SPDX-License-Identifier: Apache-2.0
// Reads lines from a descriptor, with the descriptors that were sent with them.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace kopt::runtime {

class LineReader {
public:
  /// `from` is a socket, or anything else that can be read. It is not closed here.
  explicit LineReader(int from) : from_(from) {}
  /// The next line, without its newline, and the descriptors that came with it; the caller closes
  /// them. False at the end of the input.
  bool next(std::string &line, std::vector<int> &descriptors);

private:
  ssize_t receive(char *bytes, std::size_t size);

  int from_;
  std::string pending_;
  std::vector<int> received_;
};

/// False if the other side is gone.
bool writeAll(int to, const std::string &text);

} // namespace kopt::runtime
