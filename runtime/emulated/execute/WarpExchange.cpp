// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/execute/WarpExchange.h"

namespace kopt::runtime::emulated {
namespace {

/// The lane that a shuffle reads, by the programming guide's description of width: lanes of its own
/// segment only; a lane whose source lies outside reads its own value.
int sourceLane(int mode, int lane, int argument, int width) {
  const int segment = lane & ~(width - 1);
  switch (mode) {
  case 0:
    return segment + (argument & (width - 1));
  case 1: {
    const int source = lane - (argument & 31);
    return source < segment ? lane : source;
  }
  case 2: {
    const int source = lane + (argument & 31);
    return source >= segment + width ? lane : source;
  }
  default: {
    // A lane of an earlier segment may be read, a lane of a later one may not.
    const int source = lane ^ (argument & 31);
    return source >= segment + width ? lane : source;
  }
  }
}

std::uint32_t reduce(int mode, std::uint32_t members, const std::array<LaneRequest, 32> &requests) {
  bool first = true;
  std::uint32_t result = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(members >> lane & 1u))
      continue;
    const std::uint32_t value = std::uint32_t(requests[lane].value);
    if (first) {
      result = value;
      first = false;
      continue;
    }
    switch (mode) {
    case 0:
      result += value;
      break;
    case 1:
      result = std::int32_t(value) < std::int32_t(result) ? value : result;
      break;
    case 2:
      result = std::int32_t(value) > std::int32_t(result) ? value : result;
      break;
    case 3:
      result = value < result ? value : result;
      break;
    case 4:
      result = value > result ? value : result;
      break;
    case 5:
      result &= value;
      break;
    case 6:
      result |= value;
      break;
    default:
      result ^= value;
      break;
    }
  }
  return result;
}

std::uint32_t vote(int mode, int self, std::uint32_t members,
                   const std::array<LaneRequest, 32> &requests) {
  std::uint32_t set = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (members >> lane & 1u)
      set |= std::uint32_t(mode == 0 ? requests[lane].value != 0
                                     : requests[lane].value == requests[self].value)
             << lane;
  return mode == 2 && set != members ? 0 : set;
}

} // namespace

void exchange(WarpOperation operation, int mode, std::uint32_t members,
              const std::array<LaneRequest, 32> &requests, std::array<std::uint64_t, 32> &results) {
  const std::uint32_t reduced =
      operation == WarpOperation::Reduce ? reduce(mode, members, requests) : 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(members >> lane & 1u))
      continue;
    switch (operation) {
    case WarpOperation::Barrier:
      results[lane] = 0;
      break;
    case WarpOperation::ActiveMask:
      results[lane] = members;
      break;
    case WarpOperation::Reduce:
      results[lane] = reduced;
      break;
    case WarpOperation::Vote:
      results[lane] = vote(mode, lane, members, requests);
      break;
    case WarpOperation::Shuffle: {
      const int source = sourceLane(mode, lane, requests[lane].argument, requests[lane].width);
      results[lane] = members >> (source & 31) & 1u ? requests[source & 31].value : kUndefinedLane;
      break;
    }
    }
  }
}

} // namespace kopt::runtime::emulated
