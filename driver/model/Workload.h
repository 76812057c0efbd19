// SPDX-License-Identifier: Apache-2.0
// The launches that a kernel is judged on. A Workload belongs to one specialization; its launches
// are weighted by their share of run time.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/Objective.h"
#include "runtime/runner/FillKind.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

namespace runtime {
constexpr auto spellings(FillKind) {
  std::array<std::string_view, std::size(kFillKinds)> all;
  for (const auto &[kind, name] : kFillKinds)
    all[std::size_t(kind)] = name;
  return all;
}
} // namespace runtime
using runtime::FillKind;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t(x) * y * z; }
  bool operator==(const Dim3 &) const = default;
};
KOPT_FIELDS(Dim3, x, y, z)

/// How the elements of a buffer are drawn from the launch's seed before every launch.
struct Fill {
  FillKind kind = FillKind::Uniform; ///< described in runtime/runner/README.md
  double low = -1, high = 1;         ///< inclusive for integers, clamped to the range of the type;
                                     ///< constant: low is the value
  /// captured: the file of a trace with the contents (runtime/trace/Contents.h); values: the user's
  /// file, which is read from its first byte, or empty if `bytes` has the values.
  std::string path{};
  bool isDefault = false; ///< no clause declares the contents
  std::string bytes{};    ///< values: the elements; the rest of the buffer is zero
  std::string hash{};     ///< values from a file: hash of its contents
};
KOPT_FIELDS(Fill, kind, low, high, path, isDefault, bytes, hash)

struct Buffer {
  std::string name; ///< name of the parameter
  std::uint64_t bytes = 0;
  std::string scalar; ///< element type for filling and comparing: f16 bf16 f32 f64 i8..u64
  Fill fill;
  bool readOnly = false; ///< pointer to const: the contents must be unchanged after the launch
  /// A pure output: nothing reads its old contents, so it is poisoned before every launch instead
  /// of filled. Unwritten elements are counted only in such buffers. Never set together with
  /// readOnly.
  bool output = false;
  /// The mangled name of a variable of the module that the buffer stands for; it is set before
  /// every launch. No argument points to it.
  std::string symbol{};
  /// Address of the buffer in the program that it was captured from; 0: not captured.
  std::uint64_t address = 0;
  /// Its captured contents may hold addresses within the launch's buffers, which are adjusted when
  /// those move.
  bool holdsPointers = false;
  /// The original's results differ each time (a clock, the order of atomics), so it is not
  /// compared.
  bool varies = false;
  /// If the original's own results differ a little: how far a candidate's may differ from them.
  double spread = 0;
  /// For an f64 buffer: the narrower type in which its elements are drawn; empty: its own type.
  std::string drawnAs{};
};
KOPT_FIELDS(Buffer, name, bytes, scalar, fill, readOnly, output, symbol, address, holdsPointers,
            varies, spread, drawnAs)

/// An argument is a buffer (index into Launch::buffers plus a byte offset) or the bytes of a value.
struct BufferArg {
  std::size_t buffer = 0;
  std::uint64_t offset = 0;
};
KOPT_FIELDS(BufferArg, buffer, offset)
/// Eight bytes of a value, at byte `at`, that are an address: `offset` bytes into `buffer`.
struct PointerWord {
  std::size_t at = 0;
  std::size_t buffer = 0;
  std::uint64_t offset = 0;
};
KOPT_FIELDS(PointerWord, at, buffer, offset)
struct ValueArg {
  std::string bytes; ///< any bytes; JSON has them in hex
  std::vector<PointerWord> pointers{};
};
KOPT_FIELDS(ValueArg, bytes, pointers)
using Argument = std::variant<BufferArg, ValueArg>;

/// Geometry as expressions over Launch::bindings.
struct GeometryExpressions {
  std::array<std::string, 3> grid{"1", "1", "1"}, block{"1", "1", "1"};
  std::string sharedBytes = "0";

  std::array<std::string, 7> all() const {
    return {grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedBytes};
  }
};
KOPT_FIELDS(GeometryExpressions, grid, block, sharedBytes)

struct Launch {
  std::string name;  ///< "2048x2048", or "launch 1"
  double weight = 1; ///< share of the workload; the weights of a workload sum to 1
  Dim3 grid, block;
  std::uint32_t sharedBytes = 0;
  bool cooperative = false; ///< its blocks may wait for each other: all have to fit on the GPU at
                            ///< the same time, or the launch is refused
  /// cudaLimitStackSize of the program that it was captured from, in bytes for each thread; 0:
  /// unknown, use the driver's default.
  std::uint32_t stackBytes = 0;
  /// The original reads shared memory that no thread has set, so candidates may, too.
  bool readsUnsetShared = false;
  GeometryExpressions geometry; ///< the expressions for grid, block and sharedBytes
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  std::size_t site = 0; ///< index into KernelSpec::launches
  /// The values for the expressions: kernel parameters, launch-site variables, constants.
  std::map<std::string, std::int64_t> bindings;

  std::uint64_t threads() const { return grid.count() * block.count(); }
};
KOPT_FIELDS(Launch, name, weight, grid, block, sharedBytes, cooperative, stackBytes,
            readsUnsetShared, geometry, buffers, arguments, site, bindings)

enum class TolerancePolicy {
  Default, ///< by type, relative to the output's scale
  Strict,  ///< bitwise
  User,    ///< Tolerance::relative and absolute
};
constexpr auto spellings(TolerancePolicy) {
  return std::to_array<std::string_view>({"default", "strict", "user"});
}

struct Tolerance {
  TolerancePolicy policy = TolerancePolicy::Default;
  double relative = 0, absolute = 0; ///< for TolerancePolicy::User
};
KOPT_FIELDS(Tolerance, policy, relative, absolute)

struct Workload {
  std::string kernel, symbol;
  std::vector<Launch> launches;
  Tolerance tolerance;
  Objective objective = Objective::Mean; ///< what candidates are to make small
};
KOPT_FIELDS(Workload, kernel, symbol, launches, tolerance, objective)

} // namespace kopt
