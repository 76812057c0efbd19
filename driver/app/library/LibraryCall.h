// SPDX-License-Identifier: Apache-2.0
// Finds the call of cuBLAS or CUB that computes what a launch computed. What a kernel is named, and
// how it is written, counts for nothing: only what its memory held before and after.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The memory that a pointer argument of a launch points to, as far as no other argument does.
struct Operand {
  std::string scalar; ///< type of its elements: "f32"
  std::string_view before, after;
  std::size_t buffer = 0;   ///< of the launch's
  std::uint64_t offset = 0; ///< bytes into it
};

/// What a launch did.
struct LaunchRecord {
  std::vector<Operand> operands;
  std::vector<std::int64_t> sizes;  ///< integers that the launch knows: arguments, constants
  std::vector<std::int64_t> shapes; ///< of its grid and its blocks
  std::vector<double> reals;        ///< its floating-point arguments
};

/// A call as a program of knowledge/libraries makes it.
struct LibraryCall {
  std::string name;                 ///< "cublasSgemm"
  std::string program;              ///< "product.cu"
  std::vector<std::string> macros;  ///< "IN=f32"
  std::vector<double> numbers;      ///< the program's first arguments
  std::vector<std::size_t> in, out; ///< indices of operands
  bool operator==(const LibraryCall &) const = default;
};

/// The call that gives the elements that the launch wrote: some of a matrix product, all of a
/// transpose, a scan and a sort, and those of some rows of a reduction. They are near enough to
/// look closer, and not compared as the judge does it. Nothing if there is none, or if the launch
/// wrote anything else.
std::optional<LibraryCall> libraryCallOf(const LaunchRecord &launch);

} // namespace kopt
