// SPDX-License-Identifier: Apache-2.0
// The launches a kernel is judged on. One Workload is one specialization; its launches are weighted
// by their share of run time.
#pragma once

#include "driver/model/Fields.h"
#include "driver/model/KernelSpec.h"
#include "runtime/runner/FillKind.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

using runtime::FillKind;
template <> struct EnumNames<FillKind> {
  static constexpr auto &kAll = runtime::kFillKinds;
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t(x) * y * z; }
  bool operator==(const Dim3 &) const = default;
};
KOPT_FIELDS(Dim3, x, y, z)

/// How the elements of a buffer are drawn, before every launch, from the launch's seed.
struct Fill {
  FillKind kind = FillKind::Uniform; ///< runtime/runner/README.md says what each is
  double low = -1, high = 1; ///< inclusive for integers, clipped to what the type holds; constant:
                             ///< low is the value
  /// captured: the buffer of a trace whose bytes it gets (runtime/trace/Contents.h); values: the
  /// user's file, from whose first byte on it gets them, or empty where `bytes` holds them.
  std::string path{};
  bool isDefault = false; ///< nobody said what the contents are
  std::string bytes{};    ///< values: the elements; what they do not cover is zero
  std::string hash{};     ///< values of a file: of its contents
};
KOPT_FIELDS(Fill, kind, low, high, path, isDefault, bytes, hash)

struct Buffer {
  std::string name; ///< the parameter's
  std::uint64_t bytes = 0;
  std::string scalar; ///< element type for filling and comparing: f16 bf16 f32 f64 i8..u64
  Fill fill;
  bool readOnly = false; ///< pointer to const: must be unchanged after the launch
  /// Nothing reads its old contents: poisoned before every launch instead of filled, and only of
  /// such buffers are unwritten elements counted. Never set together with readOnly.
  bool output = false;
  /// A variable of the module (mangled) instead of memory of its own: set before every launch. No
  /// argument points to it.
  std::string symbol{};
  /// Where the buffer lay in the program it was captured from; 0: it was not captured.
  std::uint64_t address = 0;
  /// Its captured contents hold addresses within the launch's buffers: they are moved with them.
  bool holdsPointers = false;
  /// The original leaves other contents each time (a clock, an order of atomics): it is not
  /// compared.
  bool varies = false;
  /// How far apart two of the original's own results are, where that is little: so far apart a
  /// candidate's may be from one of them.
  double spread = 0;
  /// Of an f64 buffer: the narrower type in which its elements are drawn; empty: in its own.
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
/// Eight bytes of a value that are an address: of which buffer, and at which offset in it.
struct PointerWord {
  std::size_t at = 0;
  std::size_t buffer = 0;
  std::uint64_t offset = 0;
};
KOPT_FIELDS(PointerWord, at, buffer, offset)
struct ValueArg {
  std::string bytes; ///< any; JSON has them in hex
  std::vector<PointerWord> pointers{};
};
KOPT_FIELDS(ValueArg, bytes, pointers)
using Argument = std::variant<BufferArg, ValueArg>;

/// Geometry as expressions over Launch::bindings.
struct GeometryExpressions {
  std::array<std::string, 3> grid{"1", "1", "1"}, block{"1", "1", "1"};
  std::string sharedBytes = "0";
};
KOPT_FIELDS(GeometryExpressions, grid, block, sharedBytes)

struct Launch {
  std::string name;  ///< "2048x2048", or "launch 1"
  double weight = 1; ///< share of the workload; the weights of a workload sum to 1
  Dim3 grid, block;
  std::uint32_t sharedBytes = 0;
  bool cooperative = false; ///< its blocks may wait for each other: all of them are on the GPU at
                            ///< once, or it is refused
  /// cudaLimitStackSize, in bytes of each thread, of the program it was captured in; 0: not known,
  /// the driver's default.
  std::uint32_t stackBytes = 0;
  GeometryExpressions geometry; ///< what grid, block and sharedBytes were evaluated from
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  std::size_t site = 0; ///< index into KernelSpec::launches
  /// Everything its expressions were evaluated over: kernel parameters, launch-site variables,
  /// constants.
  std::map<std::string, std::int64_t> bindings;
};
KOPT_FIELDS(Launch, name, weight, grid, block, sharedBytes, cooperative, stackBytes, geometry,
            buffers, arguments, site, bindings)

enum class TolerancePolicy {
  Default, ///< by type, relative to the output's scale
  Strict,  ///< bitwise
  User,    ///< Tolerance::relative and absolute
};
template <> struct EnumNames<TolerancePolicy> {
  static constexpr std::pair<TolerancePolicy, const char *> kAll[] = {
      {TolerancePolicy::Default, "default"},
      {TolerancePolicy::Strict, "strict"},
      {TolerancePolicy::User, "user"}};
};

struct Tolerance {
  TolerancePolicy policy = TolerancePolicy::Default;
  double relative = 0, absolute = 0; ///< for TolerancePolicy::User
};
KOPT_FIELDS(Tolerance, policy, relative, absolute)

struct Workload {
  std::string kernel, symbol;
  std::vector<Launch> launches;
  Tolerance tolerance;
};
KOPT_FIELDS(Workload, kernel, symbol, launches, tolerance)

} // namespace kopt
