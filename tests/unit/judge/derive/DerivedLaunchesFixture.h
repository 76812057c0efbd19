// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

namespace kopt::test {

/// scale(in, index, out, factor, n, steps): n elements in blocks of 128, as a launch site would
/// have it.
class DerivedLaunchesFixture : public testing::Test {
protected:
  DerivedLaunchesFixture() {
    kernel_.name = "scale";
    LaunchSite site;
    site.symbol = "scale";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + 127) / 128", "1", "1"};
    site.block = {"128", "1", "1"};
    site.variables = {"n"};
    site.args = {"in", "index", "out", "factor", "n", "steps"};
    kernel_.launches = {site};
    specialization_.symbol = "scale";
    specialization_.params = {
        {"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
        {"index", "const int *", ParamKind::Pointer, 8, 8, "i32", 1, 4, true, false},
        {"out", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"factor", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false},
        {"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"steps", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false}};
    declaration_.arguments = {{"factor", "1.5"}, {"n", "1000000"}, {"steps", "7"}};
    declaration_.extents = {{"in", "n"}, {"index", "n"}, {"out", "n"}};
    declaration_.fills["index"] = Fill{FillKind::Uniform, 0, 63};
  }

  Launch declared() {
    auto launch = buildLaunch(kernel_, specialization_, declaration_,
                              launchesOn(declaration_, DeviceKind::Cuda).front());
    EXPECT_TRUE(launch) << launch.error().what;
    launch->buffers[2].output = true;
    return *launch;
  }
  DerivedLaunches derive() {
    const Launch launch = declared();
    return deriveLaunches({kernel_, specialization_, &declaration_}, launch, 16384);
  }
  static std::vector<DerivedLaunch> only(const DerivedLaunches &all, Derivation kind) {
    std::vector<DerivedLaunch> some;
    for (const DerivedLaunch &launch : all.launches)
      if (launch.kind == kind && !launch.inPlace && !launch.isPart)
        some.push_back(launch);
    return some;
  }
  static std::int32_t integer(const Launch &launch, std::size_t argument) {
    std::int32_t value = 0;
    std::memcpy(&value, std::get<ValueArg>(launch.arguments[argument]).bytes.data(), sizeof value);
    return value;
  }

  KernelSpec kernel_;
  Specialization specialization_;
  TuneDeclaration declaration_;
};

} // namespace kopt::test
