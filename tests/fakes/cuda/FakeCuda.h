// SPDX-License-Identifier: Apache-2.0
// A CUDA driver and a CUPTI in host memory, as real shared libraries: libcuda.so.1 and libcupti.so.
// Device memory is host memory, a kernel is a host function, a launch runs at once. What a program
// hands to cuModuleLoadData or cuLibraryLoadData is a FakeImage of its own.
#pragma once

#include <cstddef>
#include <cstdint>

struct FakeKernel {
  const char *symbol;
  std::uint32_t parameterCount;
  const std::size_t (*parameters)[2]; ///< offset and size of each
  /// `parameters`: a pointer to each.
  void (*run)(const unsigned *grid, const unsigned *block, void **parameters);
  std::uint64_t nanoseconds; ///< a block takes; 0: the launch has no duration
};

struct FakeVariable {
  const char *name;
  void *memory;
  std::size_t bytes;
};

struct FakeImage {
  const FakeKernel *kernels;
  std::uint32_t kernelCount;
  const FakeVariable *variables;
  std::uint32_t variableCount;
  const char *cubin; ///< told to CUPTI as the module's image
  std::size_t cubinBytes;
};

/// What the fake CUPTI gives to the fake driver.
struct FakeHooks {
  void (*call)(std::uint32_t id, int site, const char *name, const void *parameters, void *result,
               const char *symbol, std::uint32_t correlation);
  void (*module)(const char *cubin, std::size_t bytes);
  void (*nodeCloned)(void *graph, void *original, void *node);
  void (*kernel)(std::uint32_t correlation, const char *symbol, std::uint64_t node,
                 std::uint64_t begin, std::uint64_t end);
};
using FakeSetHooks = void (*)(const FakeHooks *);
inline constexpr char kFakeSetHooks[] = "kopt_fake_set_hooks";
