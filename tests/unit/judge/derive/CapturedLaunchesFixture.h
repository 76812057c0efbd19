// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/support/FileSystem.h"
#include "fakes/StoredContents.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kopt::test {

/// blend(in, add, index, rows, out, factor, n, ld, threads, steps): captured with n == ld, on
/// blocks of `threads`; `add` held zeros, `rows` addresses.
class CapturedLaunchesFixture : public testing::Test {
protected:
  static constexpr std::int32_t kN = 1024;
  static constexpr std::uint64_t kIn = 0x7f0000000000, kAdd = 0x7f0000100000,
                                 kIndex = 0x7f0000200000, kRows = 0x7f0000300000,
                                 kOut = 0x7f0000400000;

  CapturedLaunchesFixture() {
    kernel_.name = specialization_.symbol = "blend";
    LaunchSite site;
    site.symbol = "blend";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + threads - 1) / threads", "1", "1"};
    site.block = {"threads", "1", "1"};
    site.variables = {"n", "threads"};
    site.args = {"in", "add", "index", "rows", "out", "factor", "n", "ld", "threads", "steps"};
    kernel_.launches = {site};
    const auto pointer = [&](const char *name, const char *scalar, std::uint32_t bytes,
                             bool isConst) {
      specialization_.params.push_back(
          {name, "", ParamKind::Pointer, 8, 8, scalar, 1, bytes, isConst, false});
    };
    pointer("in", "f32", 4, true);
    pointer("add", "f32", 4, true);
    pointer("index", "i32", 4, true);
    pointer("rows", "u64", 8, true);
    pointer("out", "f32", 4, false);
    specialization_.params.push_back(
        {"factor", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false});
    for (const char *name : {"n", "ld", "threads", "steps"})
      specialization_.params.push_back(
          {name, "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false});

    std::vector<float> in, out(kN, 7);
    for (int i = 0; i < kN; ++i) {
      in.push_back(float(i * 37 % 1000) - 500.25f);
      index_.push_back(i * 5 % kN);
    }
    add("in", "f32", kIn, in, true);
    add("add", "f32", kAdd, std::vector<float>(kN, 0), true);
    add("index", "i32", kIndex, index_, true);
    add("rows", "u64", kRows, std::vector<std::uint64_t>(kN, kIn + 64), true);
    launch_.buffers.back().holdsPointers = true;
    add("out", "f32", kOut, out, false);
    launch_.buffers.back().output = true;
    value(1.5f);
    value(kN);
    value(kN);
    value(128);
    value(3);
    launch_.name = "captured";
    launch_.grid = {8, 1, 1};
    launch_.block = {128, 1, 1};
    launch_.geometry = {site.grid, site.block, "0"};
    launch_.bindings = {{"n", kN}, {"ld", kN}, {"threads", 128}, {"steps", 3}};
  }

  template <class T> std::string store(const std::vector<T> &values) {
    return fakes::storeValues(folder_.path().string(), values);
  }
  template <class T>
  void add(const std::string &name, const std::string &scalar, std::uint64_t address,
           const std::vector<T> &values, bool isReadOnly) {
    Buffer buffer;
    buffer.name = name;
    buffer.bytes = values.size() * sizeof(T);
    buffer.scalar = scalar;
    buffer.readOnly = isReadOnly;
    buffer.address = address;
    buffer.fill.kind = FillKind::Captured;
    buffer.fill.path = store(values);
    launch_.arguments.push_back(BufferArg{launch_.buffers.size(), 0});
    launch_.buffers.push_back(buffer);
  }
  template <class T> void value(T number) {
    launch_.arguments.push_back(
        ValueArg{std::string(reinterpret_cast<const char *>(&number), sizeof number)});
  }

  DerivedLaunches derive() {
    return deriveLaunches({kernel_, specialization_, &declaration_}, launch_, 256);
  }
  std::vector<DerivedLaunch> derive(Derivation kind) {
    std::vector<DerivedLaunch> some;
    for (DerivedLaunch &launch : derive().launches)
      if (launch.kind == kind && !launch.isPart)
        some.push_back(std::move(launch));
    return some;
  }
  static std::int32_t integer(const Launch &launch, std::size_t argument) {
    std::int32_t number = 0;
    std::memcpy(&number, std::get<ValueArg>(launch.arguments[argument]).bytes.data(), 4);
    return number;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("captured"));
  KernelSpec kernel_;
  Specialization specialization_;
  TuneDeclaration declaration_;
  Launch launch_;
  std::vector<std::int32_t> index_;
};

} // namespace kopt::test
