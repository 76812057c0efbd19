// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/workload/WorkloadBuilder.h"

#include <gtest/gtest.h>

namespace kopt::test {

/// rows(in, key, out, rows, width, gain): a block for each row; `in` is a matrix, `key` and `out`
/// have an element for each row.
class RowsFixture : public testing::Test {
protected:
  RowsFixture() {
    LaunchSite site;
    site.symbol = specialization_.symbol = "rows";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"rows", "1", "1"};
    site.block = {"128", "1", "1"};
    site.variables = {"rows", "width"};
    site.args = {"in", "key", "out", "rows", "width", "gain"};
    kernel_.launches = {site};
    specialization_.params = {
        {"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
        {"key", "const int *", ParamKind::Pointer, 8, 8, "i32", 1, 4, true, false},
        {"out", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"rows", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"width", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"gain", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false}};
    declaration_.arguments = {{"rows", "100"}, {"width", "96"}, {"gain", "1.5"}};
    declaration_.extents = {{"in", "rows * width"}, {"key", "rows"}, {"out", "rows"}};
    declaration_.fills["key"] = Fill{FillKind::Uniform, 0, 63};
  }

  /// The declared launch.
  Launch launch() const {
    auto made = buildLaunch(kernel_, specialization_, declaration_,
                            launchesOn(declaration_, DeviceKind::Cuda).front());
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }
  DerivationSource source() const { return {kernel_, specialization_, &declaration_}; }

  KernelSpec kernel_;
  Specialization specialization_;
  TuneDeclaration declaration_;
};

} // namespace kopt::test
