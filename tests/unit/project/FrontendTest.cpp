// SPDX-License-Identifier: Apache-2.0
#include "driver/project/Frontend.h"

#include "fakes/FakeProcessRunner.h"
#include "unit/project/ExtractionSample.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class FrontendTest : public testing::Test {
protected:
  KernelSpec kernel() { return parseExtraction(extractionSample()).value().kernels[0]; }
  json request() { return json::parse(processes_.calls.at(0).input); }

  fakes::FakeProcessRunner processes_;
  std::unique_ptr<Frontend> frontend_ = makeFrontend(processes_, "/opt/kopt-frontend");
};

TEST_F(FrontendTest, ExtractsWithTheCommandLineOfKoptExtract) {
  processes_.on({"extract"}, 0, extractionSample().dump());
  ExtractRequest request;
  request.files = {"a.cu"};
  request.flags = {"-O3", "-DN=1"};
  request.output = "/out";
  request.prove = false;
  auto result = frontend_->extract(request);
  ASSERT_TRUE(result.has_value()) << result.error().what;
  EXPECT_EQ(result->kernels.at(0).name, "ns::stencil");
  EXPECT_THAT(processes_.calls.at(0).argv,
              ElementsAre("/opt/kopt-frontend", "extract", "--json", "-o", "/out", "--no-proof",
                          "a.cu", "--", "-O3", "-DN=1"));
}

TEST_F(FrontendTest, PassesTheErrorOfTheFrontEndOn) {
  processes_.on({"extract"}, 4,
                R"({"error":{"what":"a.cu does not compile","where":"a.cu:3","hint":"fix it"}})");
  auto result = frontend_->extract({});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::BaselineFailed);
  EXPECT_EQ(result.error().what, "a.cu does not compile");
  EXPECT_EQ(result.error().where, "a.cu:3");
  EXPECT_EQ(result.error().hint, "fix it");
}

TEST_F(FrontendTest, ACrashIsInternalAndShowsTheLastWords) {
  processes_.on({"screen"}, 139, "", "Stack dump:\nlast line");
  auto result = frontend_->screen("a", "b", kernel(), "ns::stencil<float, 2>");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::Internal);
  EXPECT_THAT(result.error().what, HasSubstr("139"));
  EXPECT_THAT(result.error().what, HasSubstr("last line"));
}

TEST_F(FrontendTest, AMissingFrontEndIsTheEnvironments) {
  auto result = frontend_->extract({});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::Environment);
}

TEST_F(FrontendTest, AsksForTransformsWithTheLaunches) {
  processes_.on({"transforms"}, 0, R"({"offers":[
    {"technique":"unroll","title":"unroll by 4","edits":[{"begin":2,"end":3,"text":"x"}]},
    {"technique":"block-size","title":"block 128","edits":[],
     "launch":{"block":[128,1,1],"cover_grid":true,"shared_bytes":64}}]})");
  Workload workload;
  workload.launches.resize(1);
  workload.launches[0].grid = {7, 1, 1};
  workload.launches[0].block = {256, 1, 1};
  auto offers = frontend_->transforms("slice", "ns::stencil<float, 2>", kernel(), workload);
  ASSERT_TRUE(offers.has_value()) << offers.error().what;
  ASSERT_EQ(offers->size(), 2u);
  EXPECT_EQ((*offers)[0].edits.at(0).range.file, "/out/stencil.cu");
  EXPECT_EQ((*offers)[0].edits.at(0).range.end, 3u);
  EXPECT_FALSE((*offers)[0].launch.block.has_value());
  EXPECT_EQ((*offers)[1].launch.block, (Dim3{128, 1, 1}));
  EXPECT_TRUE((*offers)[1].launch.coverGrid);
  EXPECT_EQ((*offers)[1].launch.sharedBytes, 64u);
  EXPECT_EQ(request()["launches"][0]["grid"], json({7, 1, 1}));
  EXPECT_EQ(request()["arch"], "sm_90");
  EXPECT_EQ(request()["flags"], json({"-O3", "-arch=sm_90"}));
}

TEST_F(FrontendTest, RefusesAnEditOutsideTheSlice) {
  processes_.on(
      {"transforms"}, 0,
      R"({"offers":[{"technique":"t","title":"x","edits":[{"begin":2,"end":99,"text":""}]}]})");
  auto offers = frontend_->transforms("slice", "e", kernel(), {});
  ASSERT_FALSE(offers.has_value());
  EXPECT_EQ(offers.error().code, ErrorCode::Internal);
}

TEST_F(FrontendTest, ScreensAgainstTheExpressionOfTheBaseline) {
  processes_.on(
      {"screen"}, 0,
      R"({"findings":[{"id":"asm","severity":"reject","message":"inline asm","where":"line 3"}]})");
  auto findings = frontend_->screen("template void ns::stencil<float, 2>(…);", "b", kernel(),
                                    "ns::stencil<float, 4>");
  ASSERT_TRUE(findings.has_value()) << findings.error().what;
  EXPECT_EQ(findings->at(0).severity, "reject");
  EXPECT_EQ(findings->at(0).where, "line 3");
  EXPECT_EQ(request()["baseline_expression"], "ns::stencil<float, 2>");
  EXPECT_EQ(request()["expression"], "ns::stencil<float, 4>");
}

TEST_F(FrontendTest, AScreenThatCannotBeReadNeverPasses) {
  for (const char *reply :
       {R"({"findings":[{"id":"a","severity":"odd","message":"m"}]})", R"({})", "", "[]"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"screen"}, 0, reply);
    auto findings = makeFrontend(processes, "f")->screen("a", "b", kernel(), "e");
    ASSERT_FALSE(findings.has_value()) << reply;
    EXPECT_EQ(findings.error().code, ErrorCode::Internal);
  }
}

} // namespace
} // namespace kopt
