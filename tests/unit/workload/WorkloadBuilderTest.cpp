// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/WorkloadBuilder.h"
#include "driver/source/Subjects.h"
#include "fakes/ScaleKernel.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using WorkloadBuilderTest = ScaleKernel;

TEST_F(WorkloadBuilderTest, TheWorkloadBindsParametersThroughTheLaunchSite) {
  const Workload built = workload();
  ASSERT_EQ(built.launches.size(), 1u);
  const Launch &launch = built.launches[0];
  EXPECT_EQ(launch.grid.x, 32u);
  EXPECT_EQ(launch.block.x, 32u);
  ASSERT_EQ(launch.buffers.size(), 1u);
  EXPECT_EQ(launch.buffers[0].bytes, 1064u * 4);
  EXPECT_FALSE(launch.buffers[0].readOnly);
}

TEST_F(WorkloadBuilderTest, LaunchSitesThatNoLaunchStandsForAreNamed) {
  EXPECT_TRUE(sitesNotRun(kernel_, specialization_, workload()).empty());
  LaunchSite other = kernel_.launches.front();
  other.file = "elsewhere.cu";
  other.line = 7;
  kernel_.launches.push_back(other);
  EXPECT_TRUE(sitesNotRun(kernel_, specialization_, workload()).empty()); // the same geometry
  kernel_.launches.back().block = {"64", "1", "1"};
  EXPECT_EQ(sitesNotRun(kernel_, specialization_, workload()),
            std::vector<std::string>{"elsewhere.cu:7"});
  Workload captured = workload();
  captured.launches[0].buffers[0].fill.kind = FillKind::Captured;
  EXPECT_TRUE(sitesNotRun(kernel_, specialization_, captured).empty());
}

TEST_F(WorkloadBuilderTest, AMissingExtentIsNamedWithTheClauseThatGivesIt) {
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"arg n = 1000"}), DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::Usage);
  EXPECT_NE(built.error().what.find("'x'"), std::string::npos);
  EXPECT_NE(built.error().hint.find("extent x = "), std::string::npos);
  EXPECT_EQ(built.error().where, path_ + ":2");
}

TEST_F(WorkloadBuilderTest, AMacroOfTheFlagsIsANumberInClauses) {
  kernel_.compileFlags = {"-O3", "-DEDGE=(1 << 4),OTHER", "-D", "ROWS=3"};
  const auto built = buildWorkload(kernel_, specialization_,
                                   declaration({"arg n = 1000", "extent x = n * EDGE + ROWS"}),
                                   DeviceKind::Emulated);
  ASSERT_TRUE(built) << built.error().what;
  EXPECT_EQ(built->launches[0].buffers[0].bytes, (1000u * 16 + 3) * 4);
}

TEST_F(WorkloadBuilderTest, AnAllocationOfTheLaunchingFunctionIsAnExtent) {
  LaunchSite &site = kernel_.launches.front();
  site.pointers.resize(site.args.size());
  for (std::size_t i = 0; i < site.args.size(); ++i)
    if (specialization_.params[i].name == "x")
      site.pointers[i] = {"d_x", "0", "((rows + 2) * 4)"};
  const auto bytesWith = [&](const std::vector<std::string> &clauses) {
    const auto built =
        buildWorkload(kernel_, specialization_, declaration(clauses), DeviceKind::Emulated);
    EXPECT_TRUE(built) << built.error().what;
    return built ? built->launches[0].buffers[0].bytes : 0;
  };
  EXPECT_EQ(bytesWith({"arg n = 64", "arg rows = 30"}), 32u * 4);
  EXPECT_EQ(bytesWith({"arg n = 64", "arg rows = 30", "extent x = 7"}), 7u * 4);
  const auto unknown = buildWorkload(kernel_, specialization_, declaration({"launch a: steps=1"}),
                                     DeviceKind::Emulated);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().what.find("'rows'"), std::string::npos) << unknown.error().what;
  EXPECT_EQ(unknown.error().hint.find("extent x"), std::string::npos) << unknown.error().hint;
}

TEST_F(WorkloadBuilderTest, WhatHostCodePutsIntoConstantMemoryIsAnInput) {
  specialization_.constantVariables = {{"taps", "_ZN1f4tapsE", 20, "float", "f32"},
                                       {"table", "table", 64, "int", "i32"},
                                       {"width", "width", 4, "int", "i32"},
                                       {"gain", "gain", 4, "float", "f32"},
                                       {"x", "x", 4, "float", "f32"}}; // hidden by the parameter
  const auto built =
      buildWorkload(kernel_, specialization_,
                    declaration({"arg n = 64", "extent x = 64", "fill table = uniform(0, n - 1)",
                                 "arg width = n / 2", "arg gain = 0.25"}),
                    DeviceKind::Emulated);
  ASSERT_TRUE(built) << built.error().what;
  const Launch &launch = built->launches[0];
  EXPECT_EQ(launch.arguments.size(), specialization_.params.size());
  ASSERT_EQ(launch.buffers.size(), 5u);
  const Buffer &taps = launch.buffers[1], &table = launch.buffers[2], &width = launch.buffers[3],
               &gain = launch.buffers[4];
  EXPECT_EQ(taps.symbol, "_ZN1f4tapsE");
  EXPECT_EQ(taps.bytes, 20u);
  EXPECT_TRUE(taps.readOnly);
  EXPECT_EQ(taps.fill.kind, FillKind::Uniform);
  EXPECT_EQ(table.fill.high, 63);
  EXPECT_EQ(width.fill.kind, FillKind::Constant);
  EXPECT_EQ(width.fill.low, 32);
  EXPECT_EQ(gain.fill.low, 0.25);
  const auto wrong = buildWorkload(kernel_, specialization_,
                                   declaration({"arg n = 64", "extent x = 64", "arg gain = m"}),
                                   DeviceKind::Emulated);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().what.find("arg gain = m"), std::string::npos);
}

TEST_F(WorkloadBuilderTest, ARealNumberThatTheLaunchPassesNeedsNoClause) {
  specialization_.params.push_back(
      {"by", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false});
  LaunchSite &site = kernel_.launches.front();
  const auto valueWith = [&](const std::string &passed, const std::vector<std::string> &more) {
    site.args.resize(specialization_.params.size());
    site.args.back() = passed;
    std::vector<std::string> clauses{"arg n = 64", "extent x = 64"};
    clauses.insert(clauses.end(), more.begin(), more.end());
    const auto built =
        buildWorkload(kernel_, specialization_, declaration(clauses), DeviceKind::Emulated);
    float value = -1;
    if (built)
      std::memcpy(&value, std::get<ValueArg>(built->launches[0].arguments.back()).bytes.data(), 4);
    return value;
  };
  EXPECT_EQ(valueWith("0.25f", {}), 0.25f);
  EXPECT_EQ(valueWith("2", {}), 2);
  EXPECT_EQ(valueWith("0.25f", {"arg by = 3"}), 3);
  EXPECT_EQ(valueWith("0.25f", {"launch a: by=5"}), 5);
  for (const char *converted : {"(float)n", "float(n)", "(double)(n)", "static_cast<float>(n)"})
    EXPECT_EQ(valueWith(converted, {}), 64) << converted;
  EXPECT_EQ(valueWith("1.0f / n", {}), 1.0f / 64);
  EXPECT_EQ(valueWith("alpha", {}), -1);
}

TEST_F(WorkloadBuilderTest, ARealNumberIsWhatCComputesFromItsClause) {
  specialization_.params.push_back(
      {"by", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false});
  LaunchSite &site = kernel_.launches.front();
  site.args.resize(specialization_.params.size());
  site.args.back() = "alpha";
  const auto valueWith = [&](std::vector<std::string> clauses) {
    clauses.insert(clauses.end(), {"arg n = 64", "extent x = 64"});
    const auto built =
        buildWorkload(kernel_, specialization_, declaration(clauses), DeviceKind::Emulated);
    EXPECT_TRUE(built) << built.error().what;
    float value = -1;
    if (built)
      std::memcpy(&value, std::get<ValueArg>(built->launches[0].arguments.back()).bytes.data(), 4);
    return value;
  };
  EXPECT_EQ(valueWith({"arg alpha = 0.25"}), 0.25f) << "as the launch calls it";
  EXPECT_EQ(valueWith({"arg by = 0.25"}), 0.25f) << "as the kernel calls it";
  EXPECT_EQ(valueWith({"arg alpha = 1.0 / 21"}), 1.0f / 21);
  EXPECT_EQ(valueWith({"arg alpha = n / 3"}), 21);
  EXPECT_EQ(valueWith({"arg alpha = half * n", "arg half = 0.5"}), 32);
  EXPECT_EQ(valueWith({"arg alpha = 0.5", "launch a: alpha=3"}), 3);
}

TEST_F(WorkloadBuilderTest, ANarrowArgumentIsGivenByAClauseToo) {
  for (const auto &[scalar, bytes] : {std::pair("f16", "\x00\x38"), {"bf16", "\x00\x3f"}}) {
    specialization_.params.resize(2);
    specialization_.params.push_back(
        {"factor", "T", ParamKind::Scalar, 2, 2, scalar, 1, 0, false, false});
    const auto built = buildWorkload(
        kernel_, specialization_, declaration({"arg n = 64", "extent x = n", "arg factor = 0.5"}),
        DeviceKind::Emulated);
    ASSERT_TRUE(built) << built.error().what;
    EXPECT_EQ(std::get<ValueArg>(built->launches[0].arguments.back()).bytes, std::string(bytes, 2));
  }
}

TEST_F(WorkloadBuilderTest, ABlockThatNoGpuTakesIsAnError) {
  const auto built = buildWorkload(kernel_, specialization_,
                                   declaration({"arg n = 64", "extent x = n", "block 2048"}),
                                   DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find("blocks of 2048 threads"), std::string::npos)
      << built.error().what;
  EXPECT_NE(built.error().hint.find("1024"), std::string::npos) << built.error().hint;
}

TEST_F(WorkloadBuilderTest, AFloatingPointArgumentKeepsItsFraction) {
  specialization_.params.push_back(
      {"factor", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false});
  const auto built = buildWorkload(
      kernel_, specialization_,
      declaration({"arg n = 64", "extent x = n + 64", "arg factor = 2.5"}), DeviceKind::Emulated);
  ASSERT_TRUE(built) << built.error().what;
  const std::string bytes = std::get<ValueArg>(built->launches[0].arguments[2]).bytes;
  float value = 0;
  ASSERT_EQ(bytes.size(), sizeof(value));
  std::memcpy(&value, bytes.data(), sizeof(value));
  EXPECT_EQ(value, 2.5f);
}

TEST_F(WorkloadBuilderTest, AStructByValueIsGivenNumberByNumber) {
  KernelParam box{"box", "Box", ParamKind::Struct, 16, 4, "", 1, 0, false, false};
  box.members = {{"low", "f32", 0}, {"size.x", "i32", 8}, {"size.y", "u8", 12}};
  specialization_.params.push_back(box);
  const auto build = [&](const std::string &clause) {
    return buildWorkload(kernel_, specialization_,
                         declaration({"arg n = 64", "extent x = n", clause}), DeviceKind::Emulated);
  };
  const auto built = build("arg box = {0.5, n / 2, 7}");
  ASSERT_TRUE(built) << built.error().what;
  const std::string bytes = std::get<ValueArg>(built->launches[0].arguments[2]).bytes;
  ASSERT_EQ(bytes.size(), 16u);
  float low = 0;
  std::int32_t x = 0;
  std::memcpy(&low, bytes.data(), sizeof low);
  std::memcpy(&x, bytes.data() + 8, sizeof x);
  EXPECT_EQ(low, 0.5f);
  EXPECT_EQ(x, 32);
  EXPECT_EQ(bytes[12], 7);
  const auto few = build("arg box = {0.5}");
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().what.find("no value for size.x, size.y"), std::string::npos);
  EXPECT_NE(few.error().hint.find("arg box = {1.0, 1, 1}"), std::string::npos);
  EXPECT_FALSE(build("arg box = {1, 2, 3, 4}"));
  const auto unknown = build("arg box = {1, m, 3}");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().context.front().find("size.x"), std::string::npos);
  specialization_.params.back().members.clear(); // a pointer, say
  const auto pointers = build("arg n2 = 1");
  ASSERT_FALSE(pointers);
  EXPECT_NE(pointers.error().what.find("members other than numbers"), std::string::npos);
  const auto more = build("arg box = {0.5}"); // n2 has no value either
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().what, pointers.error().what);
  specialization_.params.back() = {"f", "f", ParamKind::Struct, 1, 1, "empty", 1, 0, false, false};
  const auto empty = build("arg n2 = 1");
  ASSERT_TRUE(empty) << empty.error().what;
  EXPECT_EQ(std::get<ValueArg>(empty->launches[0].arguments[2]).bytes, std::string(1, '\0'));
}

TEST_F(WorkloadBuilderTest, AnArgumentOf64BitsKeepsAllOfThem) {
  specialization_.params.push_back(
      {"total", "long", ParamKind::Scalar, 8, 8, "i64", 1, 0, false, false});
  for (const std::int64_t wanted :
       {std::int64_t(9007199254740993), std::int64_t(9223372036854775807)}) {
    const auto built = buildWorkload(
        kernel_, specialization_,
        declaration({"arg n = 64", "extent x = 64", "arg total = " + std::to_string(wanted)}),
        DeviceKind::Emulated);
    ASSERT_TRUE(built) << built.error().what;
    std::int64_t value = 0;
    const std::string bytes = std::get<ValueArg>(built->launches[0].arguments[2]).bytes;
    ASSERT_EQ(bytes.size(), sizeof(value));
    std::memcpy(&value, bytes.data(), sizeof(value));
    EXPECT_EQ(value, wanted);
  }
}

TEST_F(WorkloadBuilderTest, AMissingScalarIsNamed) {
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"extent x = 64"}), DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find("'n'"), std::string::npos);
}

TEST_F(WorkloadBuilderTest, AScalarThatTheProgramComputesNeedsNoClause) {
  LaunchSite &site = kernel_.launches.front();
  site.grid = {"rows", "1", "1"};
  site.variables = {"rows", "columns"};
  site.values = std::vector<std::string>(site.args.size());
  for (std::size_t i = 0; i < site.args.size(); ++i)
    if (site.args[i] == "n")
      site.values[i] = "(rows * columns)";
  const auto built = buildWorkload(kernel_, specialization_,
                                   declaration({"launch wide: rows=4, columns=50", "extent x = n"}),
                                   DeviceKind::Emulated);
  ASSERT_TRUE(built) << built.error().what;
  EXPECT_EQ(built->launches[0].bindings.at("n"), 200);
  EXPECT_EQ(built->launches[0].grid.x, 4u);
  EXPECT_EQ(built->launches[0].buffers[0].bytes, 200u * 4);
}

TEST_F(WorkloadBuilderTest, GeometryThatWasNotReadIsAnErrorAndNotOneBlock) {
  LaunchSite &site = kernel_.launches.front();
  site.geometry = GeometryKind::Unresolved;
  site.reason = "the grid depends on a call of 'power'";
  site.grid = {};
  const auto clauses = [&](const std::vector<std::string> &more) {
    std::vector<std::string> all = {"arg n = 1000", "extent x = n + 64"};
    all.insert(all.end(), more.begin(), more.end());
    return declaration(all);
  };
  const auto built = buildWorkload(kernel_, specialization_, clauses({}), DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find(
                "the grid of this launch of 'scale' could not be read: the grid depends on"),
            std::string::npos)
      << built.error().what;
  EXPECT_NE(built.error().hint.find("grid"), std::string::npos);
  EXPECT_EQ(built.error().where, path_ + ":4");
  const auto given =
      buildWorkload(kernel_, specialization_, clauses({"grid 7"}), DeviceKind::Emulated);
  ASSERT_TRUE(given) << given.error().what;
  EXPECT_EQ(given->launches[0].grid.x, 7u);

  site.grid = {"1", "1", "1"};
  site.sharedBytes = "";
  EXPECT_FALSE(buildWorkload(kernel_, specialization_, clauses({}), DeviceKind::Emulated));
  // Another launch whose geometry is known serves instead.
  kernel_.launches.push_back(site);
  kernel_.launches.back().geometry = GeometryKind::Exact;
  kernel_.launches.back().grid = {"3", "1", "1"};
  kernel_.launches.back().sharedBytes = "0";
  const auto second = buildWorkload(kernel_, specialization_, clauses({}), DeviceKind::Emulated);
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(second->launches[0].grid.x, 3u);
  EXPECT_EQ(second->launches[0].site, 1u);
}

TEST_F(WorkloadBuilderTest, AVariableOfTheProgramIsNotAConstantOfTheSameName) {
  // The host function has a variable TILE of its own, which the constant in the kernel says nothing
  // about.
  kernel_.launches.front().variables = {"n", "TILE"};
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"arg n = 1000", "extent x = n + 64"}),
                    DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find("no value for TILE"), std::string::npos) << built.error().what;
}

TEST_F(WorkloadBuilderTest, LaunchesDeclaredForAnotherDeviceAreNotTaken) {
  const auto declared =
      declaration({"extent x = n + 64", "launch big: n=1000000 on cuda",
                   "launch small: n=100 on emulated", "launch both: n=50 weight 3"});
  const auto built = buildWorkload(kernel_, specialization_, declared, DeviceKind::Emulated);
  ASSERT_TRUE(built);
  ASSERT_EQ(built->launches.size(), 2u);
  EXPECT_EQ(built->launches[0].name, "small");
  EXPECT_DOUBLE_EQ(built->launches[1].weight, 0.75);
}

} // namespace
