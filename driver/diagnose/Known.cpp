// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Known.h"

#include <algorithm>
#include <utility>

namespace kopt {

Counters knownOf(const Launch &launch, const Specialization &kernel,
                 const std::optional<ParameterUses> &uses) {
  double moved = 0, written = 0, temporary = 0;
  bool isExact = uses.has_value();
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Buffer &buffer = launch.buffers[b];
    bool isPointedTo = false, isLoaded = false, isStored = false;
    for (std::size_t i = 0; uses && i < std::min(launch.arguments.size(), kernel.params.size());
         ++i)
      if (const auto *argument = std::get_if<BufferArg>(&launch.arguments[i]);
          argument && argument->buffer == b) {
        isPointedTo = true;
        isLoaded |= std::ranges::count(uses->read, kernel.params[i].name) > 0;
        isStored |= std::ranges::count(uses->written, kernel.params[i].name) > 0;
      }
    if (!isPointedTo)
      isLoaded = isStored = true;
    isExact &= isPointedTo || !buffer.symbol.empty();
    const double bytes = double(buffer.bytes);
    moved += bytes * ((isLoaded && !buffer.output) + (isStored && !buffer.readOnly));
    written += isStored && !buffer.readOnly ? bytes : 0;
    temporary += isPointedTo && isLoaded && buffer.output ? bytes : 0;
  }
  Counters known{{"known__buffer_bytes", moved}};
  if (isExact)
    known.insert({{"known__written_bytes", written}, {"known__temporary_bytes", temporary}});
  return known;
}

Counters knownOf(const DeviceInfo &device, const MeasuredRates &rates) {
  Counters known;
  for (const auto &[name, figure] : {std::pair("known__l2_bytes", double(device.l2Bytes)),
                                     {"measured__dram_bytes", rates.dramBytes},
                                     {"measured__dram_copy_bytes", rates.dramCopyBytes.value_or(0)},
                                     {"measured__fp32", rates.fp32},
                                     {"measured__fp64", rates.fp64},
                                     {"measured__instructions", rates.instructions}})
    if (figure > 0)
      known[name] = figure;
  return known;
}

} // namespace kopt
