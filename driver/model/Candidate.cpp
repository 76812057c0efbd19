// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Candidate.h"

#include "driver/support/Hash.h"

#include <fmt/format.h>

namespace kopt {

std::string Candidate::contentHash() const {
  std::string content;
  for (const auto &[chunk, text] : chunks)
    content += fmt::format("chunk {} {}:{}\n", chunk, text.size(), text);
  for (const auto &[name, value] : constants)
    content += fmt::format("constant {}={}\n", name, value);
  if (launch.block)
    content += fmt::format("block {},{},{} {}\n", launch.block->x, launch.block->y, launch.block->z,
                           launch.coverGrid);
  if (launch.sharedBytes)
    content += fmt::format("shared {}\n", *launch.sharedBytes);
  return hashHex(content);
}

} // namespace kopt
