// SPDX-License-Identifier: Apache-2.0
// Kernels with a launch of each, run as they are, as clones and as mutants on the emulated device.
#pragma once

#include "clang_plugin/mutate/Mutate.h"
#include "clang_plugin/reference/Reference.h"
#include "tests/component/emulated/EmulatedTest.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

namespace kopt::frontend::test {

using Bytes = std::vector<std::byte>;

/// A buffer of numbers, or one value, as the original takes it.
struct Argument {
  Bytes bytes;
  bool isBuffer = true;
  std::string scalar; ///< what the buffer is made of, for comparing it
};

float halfToFloat(std::uint16_t bits);
std::uint16_t floatToHalf(float value); ///< rounds towards zero, which is enough for inputs

/// A number of a scalar type at some bytes, as a double; nothing for types that are not compared.
std::optional<double> numberAt(const std::byte *at, const std::string &scalar);

/// `count` numbers of a type by a function of their index.
template <class Function>
Argument numbers(const std::string &scalar, std::size_t count, Function &&at) {
  Argument argument{{}, true, scalar};
  const auto add = [&](const auto &value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    argument.bytes.insert(argument.bytes.end(), bytes, bytes + sizeof value);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (scalar == "f32")
      add(float(at(i)));
    else if (scalar == "f64")
      add(double(at(i)));
    else if (scalar == "f16")
      add(floatToHalf(float(at(i))));
    else
      add(std::int32_t(at(i)));
  }
  return argument;
}

template <class T> Argument value(const T &one) {
  const auto *bytes = reinterpret_cast<const std::byte *>(&one);
  return {Bytes(bytes, bytes + sizeof one), false, ""};
}

/// A number in (-1, 1) that has all of float's digits.
inline double wave(std::size_t i) { return std::sin(double(i) * 0.7311 + 0.3) * 0.9; }

struct Sample {
  std::string slice, kernel, expression;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  std::vector<Argument> arguments;
};

/// What a launch left behind: its status, and each buffer's bytes.
struct Outcome {
  runtime::Status status;
  std::vector<Bytes> buffers; ///< one an argument; empty for a value
};

class VariantsTest : public runtime::EmulatedTest {
protected:
  void SetUp() override {
    setenv("KOPT_CUDA_PATH", "none", 1); // kopt's own declarations parse faster
    EmulatedTest::SetUp();
  }

  Outcome run(const std::string &slice, const std::string &expression, const Sample &sample,
              const std::vector<Bytes> &arguments, std::uint32_t sharedBytes);
  Outcome run(const Sample &sample);

  static KernelSource sourceOf(const Sample &sample) {
    return {sample.slice, sample.expression, sample.kernel, {}, "/tmp", "sm_90"};
  }

  /// The slice that kopt-extract makes of an example's kernel.
  static std::string extract(const std::string &file, const std::string &expression);
};

/// Kernels of the kinds that programs are full of, by name.
const std::map<std::string, Sample> &samples();

} // namespace kopt::frontend::test
