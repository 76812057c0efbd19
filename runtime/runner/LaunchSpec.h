// SPDX-License-Identifier: Apache-2.0
// A launch as a request describes it. kopt writes it, kopt-runner reads it.
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
  // Of FillKind::Captured.
  std::uint64_t lead = 0;   ///< zero bytes that come before the captured ones
  std::uint64_t period = 0; ///< captured bytes that are repeated until the buffer is full; 0: none
  double factor = 1;        ///< multiplies the floating-point numbers
  bool readOnly = false, output = false;
  /// Path of the file with the contents. For FillKind::Captured, a buffer of a trace. For
  /// FillKind::Values, a file with the values as they lie in memory; empty if they are in `values`.
  std::string contents;
  std::string values;         ///< for FillKind::Values: their bytes; zeros follow
  std::string symbol;         ///< a variable of the module instead of separate memory
  std::uint64_t address = 0;  ///< its address when it was captured; 0: not captured
  bool holdsPointers = false; ///< its contents hold addresses within the captured buffers
  /// For f64 elements: the narrower floating-point type in which they are drawn, so that they are
  /// the same numbers as in a buffer of that type.
  std::string drawnAs;
  /// Moves each floating-point element by at most one unit in its last place; each number moves
  /// them differently. 0: none moves.
  unsigned jitter = 0;
  /// True if launches read and change the contents, so that they must be restored between launches.
  bool inPlace() const { return !readOnly && !output; }
  bool operator==(const BufferSpec &) const = default;
};

/// An address within a buffer, `at` bytes into an argument.
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
  bool cooperative = false;      ///< all blocks run at once
  std::uint32_t stackBytes = 0;  ///< of each thread; 0: the driver's default
  bool readsUnsetShared = false; ///< as LaunchRequest::readsUnsetShared
  std::vector<BufferSpec> buffers;
  std::vector<ArgumentSpec> arguments;
  bool operator==(const LaunchSpec &) const = default;
};

/// Adds the fields that parseLaunch() reads, each with `prefix` ("a."). BufferSpec::jitter is not
/// among them: a request has one field for all buffers.
void addLaunch(protocol::Message &request, const std::string &prefix, const LaunchSpec &launch);

/// Reads the fields module, grid, block, shared, cooperative, stack, unset, buffer, contents,
/// values, captured, symbol, address, drawn and arg, each with `prefix`. False if one is malformed;
/// `why` then names it.
bool parseLaunch(const protocol::Message &request, const std::string &prefix, LaunchSpec &out,
                 std::string &why);

} // namespace kopt::runtime
