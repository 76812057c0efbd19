// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"

#include <algorithm>

namespace kopt::runtime {

Status Device::variable(std::uint32_t, const std::string &name, Address &, std::size_t &) {
  return {StatusCode::LaunchFailed, "the module has no variable " + name};
}

Status Device::copy(Address to, Address from, std::size_t bytes) {
  constexpr std::size_t kChunk = 4u << 20;
  std::vector<std::byte> staging(std::min(bytes, kChunk));
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(bytes - done, kChunk);
    if (Status status = read(staging.data(), from + done, part); !status.ok())
      return status;
    if (Status status = write(to + done, staging.data(), part); !status.ok())
      return status;
    done += part;
  }
  return {};
}

Status Device::timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                         double &secondsEach) {
  if (requests.empty())
    return {StatusCode::LaunchFailed, "a batch of no launches"};
  double sum = 0;
  for (const LaunchRequest &request : requests) {
    double seconds = 0;
    if (Status status = time(request, cold, seconds); !status.ok())
      return status;
    sum += seconds;
  }
  secondsEach = sum / double(requests.size());
  return {};
}

Status Device::countHardware(const LaunchRequest &, const CounterRequest &, Counters &, std::string &why) {
  why = "this device has no hardware counters";
  return {};
}

} // namespace kopt::runtime
