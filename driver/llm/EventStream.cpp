// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/EventStream.h"

namespace kopt {

void EventStream::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end != 0)
      afterReturn_ = false;
    if (end == bytes.npos)
      return;
    if (bytes[end] == '\r' || !afterReturn_)
      endLine(); // a line ends with \n, \r or both, which may come in two pieces
    afterReturn_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
  }
}

void EventStream::endLine() {
  std::string line;
  line.swap(line_);
  if (line.empty()) {
    if (hasData_)
      take_(data_);
    data_.clear();
    hasData_ = false;
    return;
  }
  if (line.compare(0, 5, "data:") != 0)
    return; // a comment, or a field that no service needs
  if (hasData_)
    data_ += '\n';
  data_ += line.substr(line.size() > 5 && line[5] == ' ' ? 6 : 5);
  hasData_ = true;
}

} // namespace kopt
