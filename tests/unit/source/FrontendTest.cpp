// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Frontend.h"

#include "fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"
#include "unit/model/ExtractionSample.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::AllOf;
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
  auto result = must(frontend_->extract(request));
  EXPECT_EQ(result.kernels.at(0).name, "ns::stencil");
  EXPECT_THAT(processes_.calls.at(0).argv,
              ElementsAre("/opt/kopt-frontend", "extract", "--json", "-o", "/out", "--no-proof",
                          "a.cu", "--", "-O3", "-DN=1"));
}

TEST_F(FrontendTest, PassesTheErrorOfTheFrontEndOn) {
  processes_.on({"extract"}, 4,
                R"({"error":{"what":"a.cu does not compile","where":"a.cu:3","hint":"fix it"}})");
  EXPECT_THAT(frontend_->extract({}), fails({.code = ErrorCode::BaselineFailed,
                                             .what = "a.cu does not compile",
                                             .where = "a.cu:3",
                                             .hint = "fix it"}));
}

TEST_F(FrontendTest, ACandidateThatTakesForeverToCompileIsItsOwnFault) {
  processes_.on({"extract"}, [](const ProcessSpec &spec) -> Result<ProcessResult> {
    ProcessResult result;
    result.timedOut = true;
    EXPECT_EQ(spec.timeout->count(), 77);
    return result;
  });
  ExtractRequest request;
  request.files = {"bomb.cu"};
  request.untrusted = true;
  request.timeout = Duration(77);
  const auto candidate = frontend_->extract(request);
  ASSERT_THAT(candidate,
              fails({.code = ErrorCode::BaselineFailed})); // which is an outcome of the trial
  EXPECT_EQ(candidate.error().where, "bomb.cu");
  EXPECT_THAT(candidate.error().what, HasSubstr("many times as long as the original"));
  processes_.calls.clear();
}

TEST_F(FrontendTest, ACrashIsInternalAndShowsTheLastWords) {
  processes_.on({"screen"}, 139, "", "Stack dump:\nlast line");
  EXPECT_THAT(frontend_->screen("a", "b", kernel(), "ns::stencil<float, 2>", {}),
              fails({.code = ErrorCode::Internal,
                     .what = AllOf(HasSubstr("139"), HasSubstr("last line"))}));
}

TEST_F(FrontendTest, AMissingFrontEndIsTheEnvironments) {
  EXPECT_THAT(frontend_->extract({}), fails({.code = ErrorCode::Environment}));
}

TEST_F(FrontendTest, AsksForTransformsWithTheLaunches) {
  processes_.on({"transforms"}, 0, R"({"offers":[
    {"technique":"unroll","title":"unroll by 4","note":"","edits":[{"begin":2,"end":3,"text":"x"}],
     "parameters":[],"requirements":[],"legality":"proven","block_multiple":""},
    {"technique":"block-size","title":"block 128","note":"","edits":[],
     "launch":{"grid":["(gridDim.x * blockDim.x + 127) / 128","1","1"],
     "block":["128","1","1"],"shared_bytes":"64"},"parameters":[],"requirements":[],
     "legality":"tested","block_multiple":""},
    {"technique":"tile","title":"tile ${X} by ${Y}","note":"",
     "edits":[{"begin":0,"end":1,"text":"${X}, ${Y}"}],
     "launch":{"grid":["n / ${X}","1","1"],"block":["","",""],"shared_bytes":""},
     "parameters":[{"name":"X","values":[1,2]},{"name":"Y","values":[4,3]}],
     "requirements":["X * Y != 3"],"legality":"guarded","block_multiple":"16"}],
    "refusals":[]})");
  auto offers = must(frontend_->transforms("slice", "ns::stencil<float, 2>", kernel(),
                                           {{{7, 1, 1}, {256, 1, 1}, 0, 1, {{"n", "4096"}}}}));
  ASSERT_EQ(offers.size(), 5u);
  EXPECT_EQ(offers[0].edits.at(0).range.file, "/out/stencil.cu");
  EXPECT_EQ(offers[0].edits.at(0).range.end, 3u);
  EXPECT_FALSE(offers[0].launch.block.has_value());
  EXPECT_EQ(offers[1].launch.block, (std::array<std::string, 3>{"128", "1", "1"}));
  EXPECT_EQ(offers[1].launch.grid->at(0), "(gridDim.x * blockDim.x + 127) / 128");
  EXPECT_EQ(offers[1].launch.sharedBytes, "64");
  EXPECT_EQ(offers[2].title, "tile 1 by 4");
  EXPECT_EQ(offers[3].title, "tile 2 by 4") << "1 by 3 is not allowed";
  EXPECT_EQ(offers[4].title, "tile 2 by 3");
  EXPECT_EQ(offers[4].edits.at(0).text, "2, 3");
  EXPECT_EQ(offers[4].launch.grid->at(0), "n / 2");
  EXPECT_EQ(offers[4].blockMultiple, "16");
  EXPECT_FALSE(offers[4].launch.block);
  EXPECT_EQ(request()["launches"][0]["grid"], json({7, 1, 1}));
  EXPECT_EQ(request()["launches"][0]["scalars"][0]["literal"], "4096");
  EXPECT_EQ(request()["source"]["arch"], "sm_90");
  EXPECT_EQ(request()["source"]["flags"], json({"-O3", "-arch=sm_90"}));
}

TEST_F(FrontendTest, RefusesAnEditOutsideTheSlice) {
  processes_.on(
      {"transforms"}, 0,
      R"({"offers":[{"technique":"t","title":"x","note":"","edits":[{"begin":2,"end":99,"text":""}]}]})");
  EXPECT_THAT(frontend_->transforms("slice", "e", kernel(), {}),
              fails({.code = ErrorCode::Internal}));
}

TEST_F(FrontendTest, AsksForAKernelWithTwoBodies) {
  processes_.on({"guard"}, 0, R"({"text":"both","refusal":""})");
  const RenderedSlice usual{"before usual", "k", {{0, 6}, {7, 12}}, {}},
      special{"special", "k", {{0, 0}, {0, 7}}, {}};
  const BodyGuard guard{"n > 4 && m < 2", {"n", "m"}, {"TILE"}, true};
  const auto reply = must(frontend_->guard(usual, special, 1, kernel(), guard));
  EXPECT_EQ(reply.text, "both");
  EXPECT_EQ(request()["source"]["slice"], "before usual");
  EXPECT_EQ(request()["chunk"]["begin"], 7);
  EXPECT_EQ(request()["chunk"]["end"], 12);
  EXPECT_EQ(request()["special"], "special");
  EXPECT_EQ(request()["special_chunk"]["end"], 7);
  EXPECT_EQ(request()["guard"]["condition"], "n > 4 && m < 2");
  EXPECT_EQ(request()["guard"]["variables"], json({"n", "m"}));
  EXPECT_EQ(request()["guard"]["constants"], json({"TILE"}));
  EXPECT_EQ(request()["guard"]["extends_chain"], true);
  const RenderedSlice latin{"\xe9 before usual", "k", {{0, 8}, {9, 14}}, {}};
  (void)must(frontend_->guard(latin, special, 1, kernel(), guard));
  EXPECT_EQ(json::parse(processes_.calls.at(1).input)["source"]["slice"]["hex"],
            "e9206265666f726520757375616c");
  for (const char *malformed :
       {R"({"text":"","refusal":""})", R"({"text":"a","refusal":"b"})", R"({})"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"guard"}, 0, malformed);
    EXPECT_FALSE(makeFrontend(processes, "f")->guard(usual, special, 1, kernel(), guard));
  }
}

TEST_F(FrontendTest, ScreensAgainstTheExpressionOfTheBaseline) {
  processes_.on(
      {"screen"}, 0,
      R"({"findings":[{"id":"asm","severity":"reject","message":"inline asm","line":3}]})");
  auto findings = must(frontend_->screen("template void ns::stencil<float, 2>(…);", "b", kernel(),
                                         "ns::stencil<float, 4>", {}));
  EXPECT_EQ(findings.at(0).severity, Severity::Reject);
  EXPECT_EQ(findings.at(0).where, "slice.cu:3");
  EXPECT_EQ(request()["baseline_expression"], "ns::stencil<float, 2>");
  EXPECT_EQ(request()["candidate_expression"], "ns::stencil<float, 4>");
}

TEST_F(FrontendTest, AScreenThatCannotBeReadNeverPasses) {
  for (const char *reply : {R"({"findings":[{"id":"a","severity":"odd","message":"m","line":1}]})",
                            R"({})", "", "[]"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"screen"}, 0, reply);
    EXPECT_THAT(makeFrontend(processes, "f")->screen("a", "b", kernel(), "e", {}),
                fails({.code = ErrorCode::Internal}))
        << reply;
  }
}

TEST_F(FrontendTest, AsksForMutantsAndMakesTheirText) {
  processes_.on({"mutate"}, 0, R"({"found":9,"in_macros":2,"mutations":[
    {"op":"comparison","title":"`<` made `<=` at line 1","kind":"value","may_be_equal":"","line":1,
     "edits":[{"begin":1,"end":2,"text":"<="}]},
    {"op":"removed-barrier","title":"no barrier","kind":"schedule","may_be_equal":"one warp","line":2,
     "edits":[{"begin":0,"end":1,"text":""},{"begin":3,"end":3,"text":"!"}]}]})");
  MutantRequest wanted{.atMost = 2, .seed = 7, .operators = {"comparison", "removed-barrier"}};
  auto set = must(frontend_->mutants("a<b", "ns::stencil<float, 2>", kernel(), wanted));
  EXPECT_EQ(set.found, 9u);
  EXPECT_EQ(set.inMacros, 2u);
  ASSERT_EQ(set.mutants.size(), 2u);
  EXPECT_EQ(set.mutants[0].sliceText, "a<=b");
  EXPECT_EQ(set.mutants[0].kind, MutantKind::Value);
  EXPECT_EQ(set.mutants[0].mayBeEqual, "");
  EXPECT_EQ(set.mutants[1].sliceText, "<b!");
  EXPECT_EQ(set.mutants[1].kind, MutantKind::Schedule);
  EXPECT_EQ(set.mutants[1].mayBeEqual, "one warp");
  EXPECT_EQ(request()["wanted"]["at_most"], 2);
  EXPECT_EQ(request()["wanted"]["seed"], 7);
  EXPECT_EQ(request()["wanted"]["operators"], json({"comparison", "removed-barrier"}));
  EXPECT_EQ(request()["source"]["expression"], "ns::stencil<float, 2>");
}

TEST_F(FrontendTest, AMutantThatIsNoneIsMalformed) {
  for (
      const char *mutant :
      {R"({"op":"o","title":"t","may_be_equal":"","kind":"value","line":1,"edits":[{"begin":2,"end":9,"text":""}]})",
       R"({"op":"o","title":"t","may_be_equal":"","kind":"value","line":1,"edits":[{"begin":2,"end":1,"text":""}]})",
       R"({"op":"o","title":"t","may_be_equal":"","kind":"odd","line":1,"edits":[{"begin":0,"end":1,"text":"x"}]})",
       R"({"op":"o","title":"t","may_be_equal":"","kind":"value","line":1,"edits":[]})",
       R"({"op":"o","title":"t","may_be_equal":"","kind":"value","line":1,
            "edits":[{"begin":1,"end":2,"text":""},{"begin":0,"end":1,"text":"x"}]})"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"mutate"}, 0,
                 R"({"found":1,"in_macros":0,"mutations":[)" + std::string(mutant) + "]}");
    EXPECT_THAT(makeFrontend(processes, "f")->mutants("a<b", "e", kernel(), {}),
                fails({.code = ErrorCode::Internal}))
        << mutant;
  }
}

TEST_F(FrontendTest, AsksForTheReferenceClone) {
  processes_.on(
      {"reference"}, 0,
      R"({"refusals":[],"slice":"text","expression":"ns::stencil<double, 2>","symbol":"_Z1k",
    "params":[{"name":"in","pointer":true,
               "element":{"size":8,"new_size":16,"fields":[
                 {"offset":0,"new_offset":0,"scalar":"f32","new_scalar":"f64"},
                 {"offset":4,"new_offset":8,"scalar":"i32","new_scalar":"i32"}]}},
              {"name":"n","pointer":false,"element":{"size":4,"new_size":4,"fields":[]}}],
    "variables":[{"name":"weights","count":9,"element":{"size":4,"new_size":8,"fields":[
                 {"offset":0,"new_offset":0,"scalar":"f32","new_scalar":"f64"}]}}],
    "shared_factor":2,"notes":[{"id":"to-integer","message":"m","line":4}]})");
  auto clone = must(frontend_->referenceClone("slice", "ns::stencil<float, 2>", kernel()));
  EXPECT_TRUE(clone.made());
  EXPECT_EQ(clone.expression, "ns::stencil<double, 2>");
  ASSERT_EQ(clone.params.size(), 2u);
  EXPECT_TRUE(clone.params[0].element.widened());
  EXPECT_EQ(clone.params[0].element.fields.at(1).newOffset, 8u);
  EXPECT_FALSE(clone.params[1].element.widened());
  EXPECT_EQ(clone.variables.at(0).count, 9u);
  EXPECT_EQ(clone.sharedFactor, 2u);
  EXPECT_EQ(clone.notes.at(0).line, 4u);
  EXPECT_EQ(request()["slice"], "slice");
}

TEST_F(FrontendTest, ARefusedCloneIsAnAnswer) {
  processes_.on(
      {"reference"}, 0,
      R"({"refusals":[{"id":"asm","message":"inline PTX","line":3}],"slice":"","expression":"",
    "symbol":"","params":[],"variables":[],"shared_factor":1,"notes":[]})");
  auto clone = must(frontend_->referenceClone("slice", "e", kernel()));
  EXPECT_FALSE(clone.made());
  EXPECT_EQ(clone.refusals.at(0).id, "asm");
}

TEST_F(FrontendTest, ACloneThatCannotBeReadIsNone) {
  for (
      const char *reply :
      {R"({"refusals":[],"slice":"","expression":"","symbol":"","params":[],"variables":[],"shared_factor":1,"notes":[]})",
       R"({})", R"({"refusals":[],"slice":"","expression":"e","symbol":"s"})",
       R"({"refusals":[],"slice":"t","expression":"e","symbol":"s","params":[],"variables":[],"shared_factor":0,"notes":[]})",
       R"({"refusals":[],"slice":"t","expression":"e","symbol":"s","variables":[],"shared_factor":1,"notes":[],
            "params":[{"name":"p","pointer":true,"element":{"size":4,"new_size":8,"fields":[]}}]})",
       R"({"refusals":[],"slice":"t","expression":"e","symbol":"s","variables":[],"shared_factor":1,"notes":[],
            "params":[{"name":"p","pointer":true,"element":{"size":4,"new_size":8,"fields":[
              {"offset":4,"new_offset":0,"scalar":"f32","new_scalar":"f64"}]}}]})"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"reference"}, 0, reply);
    EXPECT_THAT(makeFrontend(processes, "f")->referenceClone("s", "e", kernel()),
                fails({.code = ErrorCode::Internal}))
        << reply;
  }
}

TEST_F(FrontendTest, MarksOfAKernelAreReadAndLieInTheirVariable) {
  processes_.on({"coverage"}, 0,
                R"({"slice":"marked","variable":"koptReached","bytes":4,"in_macros":1,
    "marks":[{"at":3,"line":7,"what":"`n > 5` is true","names":["!$0 < 6"],"codes":["1f"],"required":true,"special":true,
              "numbers":[5],"params":[0],"blocks":false,"data":false,"assumed":false}]})");
  const auto clone = must(frontend_->coverageClone("slice", "e", kernel()));
  EXPECT_EQ(clone.slice, "marked");
  EXPECT_EQ(clone.bytes, 4u);
  EXPECT_EQ(clone.inMacros, 1u);
  ASSERT_EQ(clone.marks.size(), 1u);
  EXPECT_EQ(clone.marks[0].at, 3u);
  EXPECT_EQ(clone.marks[0].line, 7u);
  EXPECT_TRUE(clone.marks[0].special);
  EXPECT_EQ(clone.marks[0].names, std::vector<std::string>{"!$0 < 6"});
  EXPECT_EQ(clone.marks[0].numbers, std::vector<double>{5});
  for (
      const char *reply :
      {R"({})", R"({"slice":"","variable":"v","bytes":0,"in_macros":0,"marks":[]})",
       R"({"slice":"s","variable":"v","bytes":2,"in_macros":0,"marks":[{"at":2,"line":1,"what":"w","names":[],"codes":[],"required":true,"special":false,
            "numbers":[],"params":[],"blocks":false,"data":false,"assumed":false}]})"}) {
    fakes::FakeProcessRunner processes;
    processes.on({"coverage"}, 0, reply);
    EXPECT_THAT(makeFrontend(processes, "f")->coverageClone("s", "e", kernel()),
                fails({.code = ErrorCode::Internal}))
        << reply;
  }
}

TEST_F(FrontendTest, AccessesInWordsAreAskedForWithTheLaunches) {
  processes_.on({"model"}, [](const ProcessSpec &spec) -> Result<ProcessResult> {
    const json request = json::parse(spec.input);
    EXPECT_EQ(request["source"]["slice"], "slice");
    EXPECT_EQ(request["launches"][0]["block"], json({64, 2, 1}));
    ProcessResult result;
    result.out =
        R"({"facts":[],"accesses":[{"line":7,"column":3,"text":"a[i]: load"}],"read_across":["a"],"counts":{"guard":1}})";
    return result;
  });
  const ModelReply reply =
      must(frontend_->modelOf("slice", "e", kernel(), {LaunchShape{{8, 1, 1}, {64, 2, 1}}}));
  ASSERT_EQ(reply.accesses.size(), 1u);
  EXPECT_EQ(reply.accesses[0].line, 7u);
  EXPECT_EQ(reply.accesses[0].text, "a[i]: load");
  EXPECT_EQ(reply.counts.at("guard"), 1);
}

TEST_F(FrontendTest, AsksForHostCodeInTheFilesOwnFolder) {
  const HostRequest request{"/src/a.cu", {"-O3"}, "/build", {"k"}};
  processes_.on({"host"}, [](const ProcessSpec &spec) -> Result<ProcessResult> {
    EXPECT_EQ(json::parse(spec.input)["file"], "/src/a.cu");
    EXPECT_EQ(spec.timeout->count(), 300)
        << "a file with all its headers takes longer than a slice";
    ProcessResult result;
    result.exitCode = 1;
    result.out = R"({"error":{"what":"a.cu does not parse"}})";
    return result;
  });
  EXPECT_THAT(frontend_->hostText(request),
              fails({.code = ErrorCode::BaselineFailed,
                     .what = "the host code could not be read: a.cu does not parse",
                     .where = "/src/a.cu"}));
  fakes::FakeProcessRunner other;
  other.on({"host"}, 139, "", "segmentation fault");
  EXPECT_EQ(makeFrontend(other, "/opt/kopt-frontend")->hostText(request).error().code,
            ErrorCode::Internal);
}

} // namespace
} // namespace kopt
