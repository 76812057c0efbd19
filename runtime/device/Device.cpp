// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"

#include "runtime/device/Check.h"

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
    KOPT_CHECK(read(staging.data(), from + done, part));
    KOPT_CHECK(write(to + done, staging.data(), part));
    done += part;
  }
  return {};
}

Status Device::probe() {
  constexpr std::size_t kWords = 4096;
  std::vector<std::uint64_t> wanted(kWords), found(kWords);
  for (std::size_t i = 0; i < kWords; ++i)
    wanted[i] = (i + 1) * 0x9E3779B97F4A7C15ull;
  constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);
  std::array<Address, 2> memory{};
  std::size_t allocated = 0;
  Status status;
  while (status.ok() && allocated < memory.size())
    if (status = allocate(kBytes, memory[allocated]); status.ok())
      ++allocated;
  if (status.ok())
    status = write(memory[0], wanted.data(), kBytes);
  if (status.ok())
    status = copy(memory[1], memory[0], kBytes);
  if (status.ok())
    status = read(found.data(), memory[1], kBytes);
  while (allocated > 0)
    if (const Status released = release(memory[--allocated]); status.ok())
      status = released;
  if (status.ok() && found != wanted)
    return {StatusCode::DeviceError, "memory does not hold what was written to it"};
  return status;
}

Status Device::timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                         double &secondsEach) {
  if (requests.empty())
    return {StatusCode::LaunchFailed, "the batch has no launches"};
  double sum = 0;
  for (const LaunchRequest &request : requests) {
    double seconds = 0;
    KOPT_CHECK(time(request, cold, seconds));
    sum += seconds;
  }
  secondsEach = sum / double(requests.size());
  return {};
}

Status Device::measureRates(MeasuredRates &out) {
  out = {};
  out.missing = "all rates: this device measures none";
  return {};
}

Status Device::countHardware(const LaunchRequest &, const CounterRequest &, Counters &,
                             std::string &why) {
  why = "this device has no hardware counters";
  return {};
}

} // namespace kopt::runtime
