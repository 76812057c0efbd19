// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/ChildEnvironment.h"

#include <string_view>
#include <unistd.h>

namespace kopt {

std::vector<std::string> secretVariableNames() {
  constexpr std::string_view kWords[] = {"KEY",      "TOKEN",  "SECRET",
                                         "PASSWORD", "PASSWD", "CREDENTIAL"};
  std::vector<std::string> names;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    for (const std::string_view word : kWords)
      if (name.find(word) != name.npos) {
        names.push_back(std::move(name));
        break;
      }
  }
  return names;
}

} // namespace kopt
