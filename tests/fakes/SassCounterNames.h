// SPDX-License-Identifier: Apache-2.0
// All names that sassCounters() may return.
#pragma once

#include "driver/device/sass/SassMix.h"

#include <string>
#include <vector>

namespace kopt::fakes {

inline std::vector<std::string> sassCounterNames() {
  std::vector<std::string> names{
      "sass__inst",      "sass__inst_conversion_fp64", "sass__inst_local_indexed",
      "sass__loop_inst", "sass__spill_load_bytes",     "sass__spill_store_bytes"};
  for (int kind = 0; kind < kSassClasses; ++kind)
    names.push_back(std::string("sass__inst_") + toString(SassClass(kind)));
  return names;
}

} // namespace kopt::fakes
