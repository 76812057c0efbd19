// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ParamsProposer.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/Subjects.h"
#include "driver/source/TuneClauses.h"
#include "driver/support/FileSystem.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

/// A file with a tunable constant, a kernel and its launch, as the front end would describe it.
class CandidateTest : public testing::Test {
protected:
  CandidateTest() {
    source_ = "constexpr int TILE = 32;\n"
              "__global__ void scale(float *x, int n) { x[TILE] = n; }\n"
              "void run(float *x, int n) {\n"
              "  scale<<<(n + TILE - 1) / TILE, TILE>>>(x, n);\n"
              "}\n";
    path_ = (folder_.path() / "scale.cu").string();
    EXPECT_TRUE(writeFileAtomically(path_, source_));
    slice_ = "#include <cuda_runtime.h>\n" + lineAt(0) + "\n" + lineAt(1) + "\n";

    kernel_.name = "scale";
    kernel_.file = path_;
    kernel_.line = 2;
    kernel_.constants = {{"TILE", ConstantKind::Constexpr, 32, range("32"), 1, true, true}};
    LaunchSite site;
    site.file = path_;
    site.line = 4;
    site.symbol = "_Z5scalePfi";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + TILE - 1) / TILE", "1", "1"};
    site.block = {"TILE", "1", "1"};
    site.sharedBytes = "0";
    site.args = {"x", "n"};
    site.gridRange = range("(n + TILE - 1) / TILE");
    site.blockRange = SourceRange{path_, source_.find("TILE>>>"), source_.find(">>>")};
    kernel_.launches = {site};

    specialization_.symbol = "_Z5scalePfi";
    specialization_.expression = "scale";
    specialization_.slice = "slice.cu";
    specialization_.params = {
        {"x", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
    };
    specialization_.chunks = {chunk(0, ChunkRole::Constant, "TILE"),
                              chunk(1, ChunkRole::Kernel, "scale")};
    specialization_.kernelChunk = 1;
    kernel_.specializations = {specialization_};
  }

  std::string lineAt(std::size_t index) const {
    std::size_t begin = 0;
    for (; index > 0; --index)
      begin = source_.find('\n', begin) + 1;
    return source_.substr(begin, source_.find('\n', begin) - begin);
  }
  SourceRange range(const std::string &text) const {
    const std::size_t begin = source_.find(text);
    return {path_, begin, begin + text.size()};
  }
  SliceChunk chunk(std::size_t line, ChunkRole role, const std::string &name) const {
    const std::size_t begin = slice_.find(lineAt(line));
    return {range(lineAt(line)), begin, begin + lineAt(line).size(), role, name, true, {}};
  }
  TuneDeclaration declaration(const std::vector<std::string> &clauses) const {
    std::vector<TuneClause> list;
    for (const std::string &text : clauses)
      list.push_back({text, path_, 1});
    auto parsed = parseTuneDeclaration(list);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().what);
    return *parsed;
  }
  Workload workload() const {
    auto built =
        buildWorkload(kernel_, specialization_, declaration({"arg n = 1000", "extent x = n + 64"}),
                      DeviceKind::Emulated);
    EXPECT_TRUE(built) << (built ? "" : built.error().what);
    return *built;
  }
  std::string patched(const std::vector<SourceEdit> &edits) const {
    std::vector<SourceEdit> sorted = edits;
    std::sort(sorted.begin(), sorted.end(),
              [](auto &a, auto &b) { return a.range.begin > b.range.begin; });
    std::string text = source_;
    for (const SourceEdit &edit : sorted)
      text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.text);
    return text;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("candidate"));
  std::string source_, path_, slice_;
  KernelSpec kernel_;
  Specialization specialization_;
};

TEST_F(CandidateTest, TheEmptyCandidateRendersTheBaseline) {
  const auto rendered = renderSlice(slice_, kernel_, specialization_, {});
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->text, slice_);
  EXPECT_EQ(rendered->expression, "scale");
}

TEST_F(CandidateTest, AConstantChangesTheSliceTheLaunchAndTheSourceTogether) {
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_NE(rendered->text.find("constexpr int TILE = 64;"), std::string::npos);
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->block.x, 64u);
  EXPECT_EQ(launch->grid.x, 16u);
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 1u);
  EXPECT_EQ(patched(*edits).find("constexpr int TILE = 64;"), 0u);
}

TEST_F(CandidateTest, ANewBlockCoversTheSameThreadsAndRewritesTheLaunchSite) {
  Candidate candidate;
  candidate.launch.block = Dim3{256, 1, 1};
  candidate.launch.coverGrid = true;
  const auto launch = applyToLaunch(kernel_, workload().launches[0], candidate);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->block.x, 256u);
  EXPECT_EQ(launch->grid.x, 4u); // 32 blocks of 32 threads
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  EXPECT_NE(
      patched(*edits).find(
          "scale<<<(dim3((n + TILE - 1) / TILE).x * dim3(TILE).x + 255) / 256, 256>>>(x, n);"),
      std::string::npos)
      << patched(*edits);
}

TEST_F(CandidateTest, DynamicSharedMemoryIsInsertedWhereTheLaunchHadNone) {
  Candidate candidate;
  candidate.launch.sharedBytes = 2048;
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_TRUE(edits);
  EXPECT_NE(patched(*edits).find("TILE, 2048>>>"), std::string::npos);
}

TEST_F(CandidateTest, ABlockFromAMacroCannotBeWrittenBack) {
  kernel_.launches[0].blockRange.reset();
  Candidate candidate;
  candidate.launch.block = Dim3{64, 1, 1};
  const auto edits = writeBackEdits(kernel_, specialization_, candidate);
  ASSERT_FALSE(edits);
  EXPECT_EQ(edits.error().where, path_ + ":4");
}

TEST_F(CandidateTest, ABlockOfMoreThan1024ThreadsIsNoLaunch) {
  Candidate candidate;
  candidate.constants["TILE"] = 2048;
  EXPECT_FALSE(applyToLaunch(kernel_, workload().launches[0], candidate));
}

TEST_F(CandidateTest, TheHashIsOfWhatRunsNotOfItsTitle) {
  Candidate a, b;
  a.constants["TILE"] = 16;
  b.constants["TILE"] = 16;
  b.title = "another title";
  EXPECT_EQ(a.contentHash(), b.contentHash());
  b.launch.sharedBytes = 1;
  EXPECT_NE(a.contentHash(), b.contentHash());
}

TEST_F(CandidateTest, TemplateArgumentsFollowTheConstantsThatSpellThem) {
  specialization_.expression = "scale<32, float>";
  specialization_.templateArgs = {{"N", "32", true, range("TILE = 32")}, {"T", "float", false, {}}};
  specialization_.templateArgs[0].range =
      SourceRange{path_, source_.find("TILE>>>"), source_.find(">>>")};
  slice_ += "auto *instantiation = &scale<32, float>;\n";
  SliceChunk last;
  last.role = ChunkRole::Instantiation;
  last.sliceBegin = slice_.find("auto *instantiation");
  last.sliceEnd = slice_.size();
  specialization_.chunks.push_back(last);
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->expression, "scale<64, float>");
  EXPECT_NE(rendered->text.find("&scale<64, float>;"), std::string::npos);
}

TEST_F(CandidateTest, ATemplateArgumentFollowedToItsConstantChangesWithIt) {
  // SGEMM_CUDA's warptiling kernel: `const uint K10_BM = 128; … kernel<K10_BM>`, the range is the
  // 128.
  specialization_.expression = "scale<32>";
  specialization_.templateArgs = {{"N", "32", true, kernel_.constants[0].valueRange}};
  Candidate candidate;
  candidate.constants["TILE"] = 64;
  const auto rendered = renderSlice(slice_, kernel_, specialization_, candidate);
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->expression, "scale<64>");
  const auto status = checkTunables(declaration({"param N in {32, 64}"}), kernel_, specialization_);
  ASSERT_FALSE(status); // one name for one thing: TILE
  EXPECT_NE(status.error().hint.find("TILE"), std::string::npos);
}

TEST_F(CandidateTest, TheWorkloadBindsParametersThroughTheLaunchSite) {
  const Workload built = workload();
  ASSERT_EQ(built.launches.size(), 1u);
  const Launch &launch = built.launches[0];
  EXPECT_EQ(launch.grid.x, 32u);
  EXPECT_EQ(launch.block.x, 32u);
  ASSERT_EQ(launch.buffers.size(), 1u);
  EXPECT_EQ(launch.buffers[0].bytes, 1064u * 4);
  EXPECT_FALSE(launch.buffers[0].readOnly);
}

TEST_F(CandidateTest, LaunchSitesThatNoLaunchStandsForAreNamed) {
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

TEST_F(CandidateTest, AMissingExtentIsNamedWithTheClauseThatGivesIt) {
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"arg n = 1000"}), DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::Usage);
  EXPECT_NE(built.error().what.find("'x'"), std::string::npos);
  EXPECT_NE(built.error().hint.find("extent x = "), std::string::npos);
  EXPECT_EQ(built.error().where, path_ + ":2");
}

TEST_F(CandidateTest, WhatHostCodePutsIntoConstantMemoryIsAnInput) {
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

TEST_F(CandidateTest, AFloatingPointArgumentKeepsItsFraction) {
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

TEST_F(CandidateTest, AnArgumentOf64BitsKeepsAllOfThem) {
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

TEST_F(CandidateTest, AMissingScalarIsNamed) {
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"extent x = 64"}), DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find("'n'"), std::string::npos);
}

TEST_F(CandidateTest, GeometryThatWasNotReadIsAnErrorAndNotOneBlock) {
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

TEST_F(CandidateTest, AVariableOfTheProgramIsNotAConstantOfTheSameName) {
  // The host function has a variable TILE of its own, which the constant in the kernel says nothing
  // about.
  kernel_.launches.front().variables = {"n", "TILE"};
  const auto built =
      buildWorkload(kernel_, specialization_, declaration({"arg n = 1000", "extent x = n + 64"}),
                    DeviceKind::Emulated);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().what.find("no value for TILE"), std::string::npos) << built.error().what;
}

TEST_F(CandidateTest, LaunchesDeclaredForAnotherDeviceAreNotTaken) {
  const auto declared =
      declaration({"extent x = n + 64", "launch big: n=1000000 on cuda",
                   "launch small: n=100 on emulated", "launch both: n=50 weight 3"});
  const auto built = buildWorkload(kernel_, specialization_, declared, DeviceKind::Emulated);
  ASSERT_TRUE(built);
  ASSERT_EQ(built->launches.size(), 2u);
  EXPECT_EQ(built->launches[0].name, "small");
  EXPECT_DOUBLE_EQ(built->launches[1].weight, 0.75);
}

class ParamsTest : public CandidateTest {
protected:
  std::vector<Candidate> propose(ParamsProposer &proposer, const std::vector<Trial> &history,
                                 std::size_t limit) {
    const Workload work = workload();
    const Trial parentTrial;
    const Diagnosis diagnosis;
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, work, slice_, device};
    const ProposalContext context{problem, {{parentTrial, diagnosis}}, history, 0};
    auto proposed = proposer.propose(context, limit);
    EXPECT_TRUE(proposed);
    return *proposed;
  }
};

TEST_F(ParamsTest, EveryOtherValueIsProposedOnceAndNothingTwice) {
  ParamsProposer proposer(declaration({"param TILE in {16, 32, 64}"}), 1);
  const auto first = propose(proposer, {}, 10);
  ASSERT_EQ(first.size(), 2u); // 32 is the present value
  std::vector<Trial> history;
  for (const Candidate &candidate : first) {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    history.push_back(trial);
  }
  EXPECT_TRUE(propose(proposer, history, 10).empty());
}

TEST_F(ParamsTest, RequirementsAndImpossibleBlocksAreKeptOut) {
  ParamsProposer proposer(declaration({"param TILE in {8, 16, 64, 4096}", "require TILE >= 16"}),
                          1);
  const auto proposed = propose(proposer, {}, 10);
  ASSERT_EQ(proposed.size(), 2u);
  EXPECT_EQ(proposed[0].constants.at("TILE"), 16);
  EXPECT_EQ(proposed[1].constants.at("TILE"), 64);
}

TEST_F(ParamsTest, ATunableThatIsNoConstantIsAnErrorThatListsWhatThereIs) {
  const auto status =
      checkTunables(declaration({"param WIDTH in {1, 2}"}), kernel_, specialization_);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().hint.find("TILE"), std::string::npos);
}

/// Answers with two offers: one that edits the kernel, one that reaches outside of it.
class FakeFrontend : public Frontend {
public:
  Result<ExtractionResult> extract(const ExtractRequest &) override { return ExtractionResult{}; }
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &, const Workload &) override {
    TransformOffer inside{"unroll", "inside the kernel", {}, {}},
        outside{"unroll", "outside", {}, {}};
    const auto at = slice.find("x[TILE]");
    inside.edits = {{{"slice", at, at + 7}, "x[0]"}};
    outside.edits = {{{"slice", 0, 8}, "#import "}};
    return std::vector<TransformOffer>{inside, outside};
  }
  Result<std::vector<Finding>> screen(const std::string &, const std::string &, const KernelSpec &,
                                      const std::string &, const SharedCode &) override {
    return std::vector<Finding>{};
  }
  Result<MutantSet> mutants(const std::string &, const std::string &, const KernelSpec &,
                            const MutantRequest &) override {
    return MutantSet{};
  }
  Result<ReferenceClone> referenceClone(const std::string &, const std::string &,
                                        const KernelSpec &) override {
    ReferenceClone clone;
    clone.refusals = {{"none", "there is none here", 0}};
    return clone;
  }
  Result<CoverageClone> coverageClone(const std::string &slice, const std::string &,
                                      const KernelSpec &) override {
    CoverageClone clone;
    clone.sliceText = slice;
    return clone;
  }
};

TEST_F(ParamsTest, TransformOffersBecomeChunkTextsAndOnlyInsideEditableChunks) {
  FakeFrontend frontend;
  TransformProposer proposer(frontend);
  const Workload work = workload();
  Trial parentTrial;
  parentTrial.candidate.constants["TILE"] = 16;
  const Diagnosis diagnosis;
  const std::vector<Trial> history;
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  const ProposalContext context{problem, {{parentTrial, diagnosis}}, history, 0};
  const auto proposed = proposer.propose(context, 10);
  ASSERT_TRUE(proposed);
  ASSERT_EQ(proposed->size(), 1u);
  const Candidate &candidate = proposed->front();
  EXPECT_EQ(candidate.constants.at("TILE"), 16); // the parent's change is kept
  ASSERT_TRUE(candidate.chunks.contains(1));
  EXPECT_EQ(candidate.chunks.at(1), "__global__ void scale(float *x, int n) { x[0] = n; }");
}

} // namespace
