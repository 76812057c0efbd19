// SPDX-License-Identifier: Apache-2.0
// Server-sent events (WHATWG HTML, section 9.2.6), of which the services use the data alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kopt {

/// Makes events of bytes that arrive in pieces of any size. An event that is not finished by an
/// empty line is none.
class EventStream {
public:
  explicit EventStream(std::function<void(const std::string &data)> take)
      : take_(std::move(take)) {}

  void add(std::string_view bytes);

private:
  void endLine();

  std::function<void(const std::string &)> take_;
  std::string line_, data_;
  bool hasData_ = false, afterReturn_ = false;
};

} // namespace kopt
