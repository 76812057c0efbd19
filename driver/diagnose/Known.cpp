// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Known.h"

#include <utility>

namespace kopt {

Counters knownOf(const Launch &launch, const MeasuredRates &rates) {
  Counters known;
  for (const Buffer &buffer : launch.buffers)
    known["known__buffer_bytes"] +=
        double(buffer.bytes) * (buffer.readOnly || buffer.output ? 1 : 2);
  for (const auto &[name, rate] : {std::pair("measured__dram_bytes", rates.dramBytes),
                                   {"measured__fp32", rates.fp32},
                                   {"measured__fp64", rates.fp64},
                                   {"measured__instructions", rates.instructions}})
    if (rate > 0)
      known[name] = rate;
  return known;
}

} // namespace kopt
