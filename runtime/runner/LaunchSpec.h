// SPDX-License-Identifier: Apache-2.0
// A launch as a request describes it: written by kopt, read by kopt-runner.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/FillKind.h"
#include "runtime/runner/Protocol.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kopt::runtime {

struct BufferSpec {
  std::string name;
  std::uint64_t bytes = 0;
  std::string scalar; ///< f16 bf16 f32 f64 i8..u64 bool, or a StructType; anything else is bytes
  FillKind fill = FillKind::Uniform;
  double low = -1, high = 1;
  bool readOnly = false, output = false;
  /// Of a captured fill: the path of a buffer of a trace. Of given values: that of a file with
  /// them, as they lie in memory; empty where they are in `values`.
  std::string contents;
  std::string values;         ///< of given values: their bytes; zeros follow
  std::string symbol;         ///< a variable of the module instead of separate memory
  std::uint64_t address = 0;  ///< where it lay when it was captured; 0: not captured
  bool holdsPointers = false; ///< its contents hold addresses within the captured buffers
  /// A narrower floating-point type that f64 elements are drawn in: the same numbers as in a buffer
  /// of that type.
  std::string drawnAs;
  /// Each floating-point element moved by at most one unit in its last place, otherwise for each
  /// number; 0: none moved.
  unsigned jitter = 0;
  /// Its contents change and matter: to be restored between launches.
  bool inPlace() const { return !readOnly && !output; }
  bool operator==(const BufferSpec &) const = default;
};

/// An address of a buffer, as an argument or, `at` bytes into it, as a part of one.
struct PointerSpec {
  std::size_t at = 0, buffer = 0;
  std::uint64_t offset = 0;
  bool operator==(const PointerSpec &) const = default;
};

struct ArgumentSpec {
  std::vector<std::byte> value;
  std::vector<PointerSpec> pointers; ///< each takes the place of eight bytes of the value
  bool operator==(const ArgumentSpec &) const = default;
};

struct LaunchSpec {
  std::uint32_t module = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  bool cooperative = false;     ///< all blocks at once
  std::uint32_t stackBytes = 0; ///< of each thread; 0: the driver's default
  std::vector<BufferSpec> buffers;
  std::vector<ArgumentSpec> arguments;
  bool operator==(const LaunchSpec &) const = default;
};

/// Adds the fields that parseLaunch() reads, each with its prefix ("a."). BufferSpec::jitter is not
/// of a launch: requests have a field for all buffers.
void addLaunch(protocol::Message &request, const std::string &prefix, const LaunchSpec &launch);

/// Reads the fields `prefix`module, grid, block, shared, cooperative, stack, buffer, contents,
/// values, symbol, address, arg. False with `why` naming the first bad field.
bool parseLaunch(const protocol::Message &request, const std::string &prefix, LaunchSpec &out,
                 std::string &why);

} // namespace kopt::runtime
