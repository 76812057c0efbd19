// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/derived/DerivedLaunches.h"

#include <gtest/gtest.h>

namespace kopt::test {

/// rows(in, out, rows, columns): a block for each row; `in` is a matrix, `out` has an element for
/// each row.
class RowsFixture : public testing::Test {
protected:
  RowsFixture() {
    LaunchSite site;
    site.symbol = specialization_.symbol = "rows";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"rows", "1", "1"};
    site.block = {"128", "1", "1"};
    site.variables = {"rows", "columns"};
    site.args = {"in", "out", "rows", "columns"};
    kernel_.launches = {site};
    specialization_.params = {
        {"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
        {"out", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"rows", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
        {"columns", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false}};
    declaration_.arguments = {{"rows", "100"}, {"columns", "96"}};
    declaration_.extents = {{"in", "rows * columns"}, {"out", "rows"}};
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
