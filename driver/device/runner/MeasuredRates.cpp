// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/MeasuredRates.h"

#include "driver/support/Text.h"

#include <cmath>

namespace kopt {

MeasuredRates measuredRatesOf(const RunnerReply &reply, const std::vector<std::string> &otherLoad) {
  MeasuredRates rates;
  if (reply.status != RunStatus::Ok) {
    rates.missing = "all rates: " + reply.detail;
    return rates;
  }
  if (!otherLoad.empty()) {
    rates.missing = "all rates: other processes used the GPU meanwhile: " + join(otherLoad, ", ");
    return rates;
  }
  const auto read = [&](const char *key) {
    const double rate = reply.message.number<double>(key).value_or(0);
    return std::isfinite(rate) && rate > 0 ? rate : 0;
  };
  rates.dramBytes = read("dram_bytes");
  if (const double copied = read("dram_copy_bytes"); copied > 0)
    rates.dramCopyBytes = copied;
  rates.fp32 = read("fp32");
  rates.fp64 = read("fp64");
  rates.instructions = read("instructions");
  rates.missing = reply.message.text("missing");
  return rates;
}

} // namespace kopt
