// SPDX-License-Identifier: Apache-2.0
// Wins of a file with two kernels and a template, composed: who shares their text, and what becomes
// of them. The program is a fake.
#include "driver/integrate/SessionFlow.h"

#include "driver/integrate/compose/Compose.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "fakes/FakeClock.h"
#include "fakes/MemoryStore.h"
#include "fakes/Results.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kText = "constexpr int W = 4;\n"
                          "template <int N> __global__ void t(float *x) { x[0] = N * W; }\n"
                          "__global__ void k(float *x) { x[1] = W; }\n"
                          "int main() {\n"
                          "  t<16><<<1, 16>>>(0);\n"
                          "  t<32><<<1, 32>>>(0);\n"
                          "  k<<<1, 64>>>(0);\n"
                          "}\n"
                          "__global__ void m(float *x) {\n"
                          "#define ROW 8\n"
                          "  x[2] = ROW;\n"
                          "}\n"
                          "__global__ void n(float *x) { x[3] = ROW; }\n"
                          "template <class T, int N> __global__ void d(T *x) { x[4] = N; }\n"
                          "void dispatched(int type, void *x) {\n"
                          "  DISPATCH(type, d<scalar_t, (2 > 1)><<<1, 256>>>((scalar_t *)x));\n"
                          "}\n"
                          "__global__ void r(float *x, int n) { x[5] = n; }\n"
                          "void rows(int n, float *x) {\n"
                          "  int blocks = n / 4;\n"
                          "  cudaMemset(x, 0, n);\n"
                          "  r<<<blocks, 64>>>(x, n);\n"
                          "}\n";

class SessionFlowTest : public testing::Test {
protected:
  SessionFlowTest() {
    EXPECT_TRUE(writeFileAtomically(folder_.path() / "a.cu", kText));
    extraction_.fileHashes[file()] = hashHex(kText);
    KernelSpec t = spec("t", 2), k = spec("k", 3);
    for (const char *n : {"16", "32"}) {
      Specialization one = specialization(std::string("_t") + n, std::string("t<") + n + ">");
      one.templateArgs = {{"N", n, true}};
      one.chunks = {chunk("constexpr int W = 4;", ChunkRole::Constant, "W"),
                    chunk("template <int N> __global__ void t(float *x) { x[0] = N * W; }",
                          ChunkRole::Kernel, "t")};
      one.kernelChunk = 1;
      t.specializations.push_back(one);
      t.launches.push_back(site(one.symbol, std::string("  t<") + n));
    }
    Specialization one = specialization("_k", "k");
    one.chunks = {chunk("constexpr int W = 4;", ChunkRole::Constant, "W"),
                  chunk("__global__ void k(float *x) { x[1] = W; }", ChunkRole::Kernel, "k")};
    one.kernelChunk = 1;
    k.specializations = {one};
    k.launches = {site("_k", "  k<<<")};
    for (KernelSpec *kernel : {&t, &k})
      kernel->constants = {{"W", ConstantKind::Constexpr, 4, range("4;", 0, 1), 1, true, false}};
    KernelSpec m = spec("m", 9), n = spec("n", 13); // n uses a macro that m defines
    Specialization ofM = specialization("_m", "m"), ofN = specialization("_n", "n");
    ofM.chunks = {chunk(kM, ChunkRole::Kernel, "m")};
    ofM.kernelChunk = 0;
    ofN.chunks = {chunk("#define ROW 8\n", ChunkRole::Macro, "ROW"),
                  chunk("__global__ void n(float *x) { x[3] = ROW; }", ChunkRole::Kernel, "n")};
    ofN.kernelChunk = 1;
    m.specializations = {ofM};
    n.specializations = {ofN};
    KernelSpec d = spec("d", 14); // its instantiations share a launch
    for (const char *type : {"float", "half", "double"}) {
      Specialization one = specialization(std::string("_d") + type, fmt::format("d<{}, 1>", type));
      one.templateArgs = {{"T", type}, {"N", "1", true}};
      one.chunks = {chunk(kD, ChunkRole::Kernel, "d")};
      d.specializations.push_back(one);
      d.launches.push_back(site(one.symbol, "d<scalar_t, "));
      d.launches.back().column = 18;
      d.launches.back().templateArgs = {"scalar_t", "(2 > 1)"};
    }
    extraction_.kernels = {t, k, m, n, d};
    for (const KernelSpec &kernel : extraction_.kernels)
      for (const Specialization &each : kernel.specializations)
        subjects_.push_back({{kernel, each, kText}, {}, each.expression});
  }

  std::string file() const { return std::filesystem::canonical(folder_.path() / "a.cu").string(); }
  SourceRange range(const std::string &text, std::size_t from, std::size_t length) const {
    const std::size_t at = kText.find(text);
    return {file(), at + from, at + from + length};
  }
  SliceChunk chunk(const std::string &text, ChunkRole role, const std::string &name) const {
    SliceChunk made;
    made.source = range(text, 0, text.size());
    made.sliceBegin = made.source.begin;
    made.sliceEnd = made.source.end;
    made.role = role;
    made.name = name;
    return made;
  }
  KernelSpec spec(const std::string &name, unsigned line) const {
    KernelSpec made;
    made.name = name;
    made.file = made.unit = file();
    made.line = line;
    return made;
  }
  static Specialization specialization(const std::string &symbol, const std::string &expression) {
    Specialization made;
    made.symbol = symbol;
    made.expression = expression;
    return made;
  }
  LaunchSite site(const std::string &symbol, const std::string &text) const {
    LaunchSite made;
    made.file = file();
    made.line = unsigned(std::count(kText.begin(), kText.begin() + kText.find(text), '\n')) + 1;
    made.column = 3;
    made.symbol = symbol;
    const std::size_t grid = kText.find("<<<", kText.find(text)) + 3,
                      block = kText.find(", ", grid) + 2;
    made.gridRange = SourceRange{file(), grid, block - 2};
    made.blockRange = SourceRange{file(), block, kText.find(">>>", block)};
    made.block = {kText.substr(block, made.blockRange->end - block), "1", "1"};
    return made;
  }
  const TuneSubject &subject(const std::string &label) const {
    for (const TuneSubject &one : subjects_)
      if (one.label == label)
        return one;
    throw std::runtime_error(label);
  }

  /// A win of that kernel with new texts of its chunks.
  Win win(const std::string &label, std::map<std::size_t, std::string> chunks, double saved,
          std::map<std::string, std::int64_t> constants = {}, std::uint32_t block = 0) {
    Win made;
    made.subject = &subject(label);
    RunRecord run;
    run.name = label;
    made.run = store_.beginRun(run)->id;
    made.runName = label;
    made.trial.candidate.title = "faster " + label;
    made.trial.candidate.chunks = std::move(chunks);
    made.trial.candidate.constants = std::move(constants);
    if (block > 0)
      made.trial.candidate.launch.block = {{std::to_string(block), "1", "1"}};
    made.trial.speedup = Speedup{1.5, 1.4, 1.6};
    made.savedSeconds = saved;
    made.edits =
        writeBackEdits(made.subject->kernel, made.subject->specialization, made.trial.candidate)
            .value();
    return made;
  }
  SessionRecord integrate(std::vector<Win> wins, bool modelled = true) {
    if (modelled)
      for (Win &one : wins)
        one.trial.speedup->modelled = true;
    SessionRequest request{std::move(wins), extraction_, "GPU", modelled, "./app", "make", {}};
    const SessionServices services{
        store_,
        clock_,
        [&](const Specialization &which) -> Result<TuneSubject> {
          for (const TuneSubject &one : subjects_)
            if (one.specialization.symbol == which.symbol)
              return one;
          return makeError(ErrorCode::Usage, "unknown");
        },
        [&](const TuneSubject &which, const Candidate &candidate) -> Result<Trial> {
          judged_.push_back(which.label);
          judgedTexts_.push_back(candidate.chunks);
          judgedBlocks_.push_back(candidate.launch.block);
          const auto verdict = verdicts_.find(which.label);
          if (verdict == verdicts_.end())
            return makeError(ErrorCode::Usage, "the workload has no launch of it");
          Trial trial;
          trial.verdict = verdict->second;
          trial.reason = "so it is";
          return trial;
        },
        [](const RenderedSlice &slice, std::size_t chunk, const KernelSpec &,
           bool isInline) -> Result<ChunkReply> {
          const auto [begin, end] = slice.chunks.at(chunk);
          const std::string text = slice.text.substr(begin, end - begin);
          return ChunkReply{(isInline ? "template <> inline " : "template <> ") + slice.expression +
                                text.substr(text.find('{')),
                            ""};
        },
        [](const std::filesystem::path &) -> Result<std::unique_ptr<ProgramPair>> {
          return makeError(ErrorCode::Usage, "no program is known", "give --run");
        },
        [](const std::string &) {},
        [this] { return isTimeUp_; }};
    const auto session = integrateWins(std::move(request), services);
    EXPECT_TRUE(session) << session.error().what;
    return session.value_or(SessionRecord());
  }
  std::string patched(const std::vector<FileEdits> &files) {
    Patch patch;
    EXPECT_EQ(files.size(), 1u);
    std::string text = kText;
    for (auto edit = files.at(0).edits.rbegin(); edit != files.at(0).edits.rend(); ++edit)
      text.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->text);
    return text;
  }

  inline static const std::string kM =
      "__global__ void m(float *x) {\n#define ROW 8\n  x[2] = ROW;\n}";
  inline static const std::string kD =
      "template <class T, int N> __global__ void d(T *x) { x[4] = N; }";
  inline static const std::string kFastK = "__global__ void k(float *x) { x[1] = 4; }";
  inline static const std::string kFastT =
      "template <int N> __global__ void t(float *x) { x[0] = 4 * N; }";
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-session").value());
  ExtractionResult extraction_;
  std::vector<TuneSubject> subjects_;
  fakes::MemoryStore store_;
  fakes::FakeClock clock_;
  std::map<std::string, Verdict> verdicts_;
  std::vector<std::string> judged_;
  bool isTimeUp_ = false;
  std::vector<std::map<std::size_t, std::string>> judgedTexts_;
  std::vector<std::optional<std::array<std::string, 3>>> judgedBlocks_;
};

TEST_F(SessionFlowTest, TwoWinsOfOneFileAreOnePatch) {
  verdicts_["t<16>"] = Verdict::Same;
  const SessionRecord session =
      integrate({win("k", {{1, kFastK}}, 1), win("t<32>", {{1, kFastT}}, 2)});
  ASSERT_EQ(session.wins.size(), 2u);
  EXPECT_EQ(session.wins[0].kernel, "t<32>"); // saves more
  EXPECT_EQ(session.wins[0].state, WinState::Modelled);
  const std::string text = patched(session.offered);
  EXPECT_THAT(text, HasSubstr(kFastK));
  EXPECT_THAT(text, HasSubstr(kFastT));
  EXPECT_THAT(session.offeredPatch, HasSubstr("t<32> and 1 more"));
  EXPECT_THAT(session.confirmed, IsEmpty());
  ASSERT_EQ(store_.sessions()->size(), 1u);
  EXPECT_FALSE(store_.sessions()->at(0).finishedUtc.empty());
}

TEST_F(SessionFlowTest, WhoSharesATemplatesTextIsJudgedWithIt) {
  verdicts_["t<16>"] = Verdict::Same;
  const SessionRecord session = integrate({win("t<32>", {{1, kFastT}}, 2)});
  EXPECT_THAT(judged_, ElementsAre("t<16>"));
  EXPECT_EQ(judgedTexts_.at(0).at(1), kFastT);
  ASSERT_EQ(session.composed.size(), 1u);
  EXPECT_THAT(session.composed[0].place, HasSubstr("a.cu:5"));
  EXPECT_FALSE(session.wins[0].ownSpecialization);
}

TEST_F(SessionFlowTest, AnInstantiationThatWouldGoWrongIsLeftAlone) {
  verdicts_["t<16>"] = Verdict::WrongResult;
  verdicts_["t<32>"] = Verdict::Faster;
  const SessionRecord session = integrate({win("t<32>", {{1, kFastT}}, 2)});
  EXPECT_THAT(judged_, ElementsAre("t<16>", "t<32>"));
  EXPECT_TRUE(session.wins[0].ownSpecialization);
  const std::string text = patched(session.offered);
  EXPECT_THAT(text, HasSubstr("x[0] = N * W; }\n\ntemplate <> t<32>{ x[0] = 4 * N; }\n"));
}

TEST_F(SessionFlowTest, WhoSharesItsTextKeepsTheLaunchOfItsOwn) {
  // The new text is right with the new block only, which the other instantiation does not get.
  verdicts_["t<16>"] = Verdict::WrongResult;
  verdicts_["t<32>"] = Verdict::Faster;
  const SessionRecord session = integrate({win("t<32>", {{1, kFastT}}, 2, {}, 128)});
  EXPECT_THAT(judged_, ElementsAre("t<16>", "t<32>"));
  EXPECT_FALSE(judgedBlocks_.at(0));
  ASSERT_TRUE(judgedBlocks_.at(1));
  EXPECT_EQ(judgedBlocks_[1]->at(0), "128");
  EXPECT_TRUE(session.wins.at(0).ownSpecialization);
  const std::string text = patched(session.offered);
  EXPECT_THAT(text, HasSubstr("x[0] = N * W; }\n\ntemplate <> t<32>{"));
  EXPECT_THAT(text, HasSubstr("t<16><<<1, 16>>>(0)"));
  EXPECT_THAT(text, HasSubstr("t<32><<<1, 128>>>(0)"));
}

TEST_F(SessionFlowTest, WinsThatChangeOnlyTheirLaunchesAreOnePatch) {
  const SessionRecord session =
      integrate({win("t<16>", {}, 1, {}, 64), win("t<32>", {}, 2, {}, 128)});
  EXPECT_THAT(judged_, IsEmpty()) << "nobody shares a launch";
  const std::string text = patched(session.offered);
  EXPECT_THAT(text, HasSubstr("t<16><<<1, 64>>>(0)"));
  EXPECT_THAT(text, HasSubstr("t<32><<<1, 128>>>(0)"));
}

TEST_F(SessionFlowTest, ALaunchThatOthersShareDependsOnTheType) {
  // The workload has no launch of d<double, 1>.
  const SessionRecord session =
      integrate({win("d<float, 1>", {}, 2, {}, 128), win("d<half, 1>", {}, 1, {}, 64)});
  ASSERT_EQ(session.wins.size(), 2u);
  EXPECT_EQ(session.wins[0].state, WinState::Modelled) << session.wins[0].reason;
  EXPECT_EQ(session.wins[1].state, WinState::Modelled) << session.wins[1].reason;
  EXPECT_TRUE(session.wins[0].ownSpecialization);
  EXPECT_THAT(patched(session.offered),
              HasSubstr("d<scalar_t, (2 > 1)><<<1, (std::is_same<scalar_t, float>::value) ? 128 : "
                        "(std::is_same<scalar_t, half>::value) ? 64 : 256>>>((scalar_t *)x)"));
}

TEST_F(SessionFlowTest, ALaunchThatOthersShareIsJudgedWithThemFirst) {
  verdicts_["d<half, 1>"] = verdicts_["d<double, 1>"] = Verdict::Same;
  const SessionRecord session = integrate({win("d<float, 1>", {}, 2, {}, 128)});
  EXPECT_THAT(judged_, ElementsAre("d<half, 1>", "d<double, 1>"));
  EXPECT_FALSE(session.wins.at(0).ownSpecialization);
  EXPECT_THAT(patched(session.offered), HasSubstr("(2 > 1)><<<1, 128>>>((scalar_t *)x)"));
}

TEST_F(SessionFlowTest, TextAndLaunchThatOthersShareBecomeItsOwn) {
  verdicts_["d<float, 1>"] = Verdict::Faster;
  Win made = win("d<float, 1>", {{0, "template <class T, int N> __global__ void d(T *x) { }"}}, 2);
  LaunchOverride &launch = made.trial.candidate.launch;
  launch.sharedBytes = "65536";
  launch.largeShared = true;
  made.edits =
      writeBackEdits(made.subject->kernel, made.subject->specialization, made.trial.candidate)
          .value();
  const SessionRecord session = integrate({made});
  EXPECT_EQ(judged_.back(), "d<float, 1>");
  EXPECT_EQ(session.wins.at(0).state, WinState::Modelled) << session.wins[0].reason;
  const std::string text = patched(session.offered);
  EXPECT_THAT(text, HasSubstr(kD + "\n\ntemplate <> d<float, 1>{ }"));
  EXPECT_THAT(text, HasSubstr("<<<1, 256, (std::is_same<scalar_t, float>::value) ? 65536 : 0>>>"));
  EXPECT_THAT(text, HasSubstr("DISPATCH(type, (void)((std::is_same<scalar_t, float>::value) && "
                              "cudaFuncSetAttribute(d<scalar_t, (2 > 1)>, "
                              "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)),"));
}

TEST_F(SessionFlowTest, ALaunchWhoseTypeIsDeducedDependsOnWhatItPasses) {
  TuneSubject &own = *std::ranges::find(subjects_, "d<half, 1>", &TuneSubject::label);
  for (Specialization &one : own.kernel.specializations) {
    one.params.emplace_back().kind = ParamKind::Pointer;
    one.params.back().type = one.templateArgs[0].value + " *";
  }
  own.specialization.params = {own.kernel.specializations[1].params};
  for (LaunchSite &site : own.kernel.launches) {
    site.templateArgs.clear(); // nothing is spelled
    site.args = {"x"};
  }
  extraction_.kernels.back() = own.kernel;
  const SessionRecord session = integrate({win("d<half, 1>", {}, 1, {}, 64)});
  EXPECT_EQ(session.wins.at(0).state, WinState::Modelled) << session.wins[0].reason;
  EXPECT_THAT(patched(session.offered),
              HasSubstr("<<<1, (std::is_convertible<decltype(x), half *>::value) ? 64 : 256>>>"));
}

TEST_F(SessionFlowTest, WithoutTimeToJudgeWhoSharesItsTextAWinIsASpecializationOfItsOwn) {
  verdicts_["t<16>"] = Verdict::Same;
  verdicts_["t<32>"] = Verdict::Faster;
  isTimeUp_ = true;
  const SessionRecord session = integrate({win("t<32>", {{1, kFastT}}, 2)});
  EXPECT_THAT(judged_, ElementsAre("t<32>"));
  EXPECT_TRUE(session.wins[0].ownSpecialization);
  EXPECT_EQ(session.wins[0].state, WinState::Modelled);
}

TEST_F(SessionFlowTest, WinsWithOneTextNeedNoTimeToBeJudgedAgain) {
  isTimeUp_ = true;
  const SessionRecord session =
      integrate({win("t<32>", {{1, kFastT}}, 2), win("t<16>", {{1, kFastT}}, 1)});
  EXPECT_THAT(judged_, IsEmpty());
  ASSERT_EQ(session.wins.size(), 2u);
  for (const SessionWin &one : session.wins) {
    EXPECT_EQ(one.state, WinState::Modelled) << one.reason;
    EXPECT_FALSE(one.ownSpecialization);
  }
}

TEST_F(SessionFlowTest, WithoutTimeAWinThatCanBeNoSpecializationIsDropped) {
  verdicts_["t<16>"] = verdicts_["k"] = Verdict::Same;
  isTimeUp_ = true;
  const SessionRecord session = integrate({win("t<32>", {}, 2, {{"W", 8}})});
  EXPECT_THAT(judged_, IsEmpty());
  EXPECT_EQ(session.wins.at(0).state, WinState::Dropped);
  EXPECT_THAT(session.wins[0].reason, HasSubstr("no time left to judge that, nor 1 others"));
}

TEST_F(SessionFlowTest, WhatCanNeitherBeJudgedNorSpecializedIsDroppedByName) {
  // The constant is t<16>'s and k's, too, and the workload has no launch of either.
  const SessionRecord session = integrate({win("t<32>", {}, 2, {{"W", 8}})});
  ASSERT_EQ(session.wins.size(), 1u);
  EXPECT_EQ(session.wins[0].state, WinState::Dropped);
  EXPECT_THAT(session.wins[0].reason, HasSubstr("of 't<16>' ("));
  EXPECT_THAT(session.wins[0].reason, HasSubstr("a.cu:5"));
  EXPECT_THAT(session.wins[0].reason, HasSubstr("of 'k' ("));
  EXPECT_THAT(session.wins[0].reason, HasSubstr("no launch of it"));
  EXPECT_THAT(session.offered, IsEmpty());
}

TEST_F(SessionFlowTest, AMacroInTheWinsTextThatStaysTheSameChangesNobody) {
  const std::string fast = "__global__ void __launch_bounds__(64)\nm(float *x) {\n#define ROW 8\n"
                           "  x[2] = 8;\n}";
  const SessionRecord session = integrate({win("m", {{0, fast}}, 2)});
  EXPECT_EQ(session.wins.at(0).state, WinState::Modelled) << session.wins.at(0).reason;
  EXPECT_THAT(judged_, IsEmpty());

  std::string wider = fast;
  wider.replace(wider.find("ROW 8"), 5, "ROW 9");
  const SessionRecord other = integrate({win("m", {{0, wider}}, 2)});
  EXPECT_EQ(other.wins.at(0).state, WinState::Dropped);
  EXPECT_THAT(other.wins.at(0).reason, HasSubstr("it changes the text of 'ROW' of 'n'"));
}

TEST_F(SessionFlowTest, OfTwoTextsForOneTemplateTheBetterStays) {
  verdicts_["t<16>"] = verdicts_["t<32>"] = Verdict::Faster;
  const std::string other = "template <int N> __global__ void t(float *x) { x[0] = N << 2; }";
  const SessionRecord session =
      integrate({win("t<16>", {{1, other}}, 1), win("t<32>", {{1, kFastT}}, 2)});
  ASSERT_EQ(session.wins.size(), 2u);
  EXPECT_EQ(session.wins[0].kernel, "t<32>");
  EXPECT_FALSE(session.wins[0].ownSpecialization);
  EXPECT_EQ(session.wins[1].kernel, "t<16>"); // beside it, as it clashes with the template's text
  EXPECT_TRUE(session.wins[1].ownSpecialization);
}

TEST_F(SessionFlowTest, AWinMayDependOnAFileBesideThePatchsFolder) {
  const TemporaryDirectory beside = std::move(TemporaryDirectory::create("kopt-beside").value());
  const std::string header = (std::filesystem::canonical(beside.path()) / "b.cuh").string(),
                    text = "int helper();\n";
  ASSERT_TRUE(writeFileAtomically(header, text));
  extraction_.fileHashes[header] = hashHex(text);
  SliceChunk helper;
  helper.source = {header, 0, 13};
  helper.role = ChunkRole::Function;
  helper.name = "helper";
  for (TuneSubject &one : subjects_)
    if (one.label == "k")
      one.specialization.chunks.push_back(helper);
  const SessionRecord session = integrate({win("k", {{1, kFastK}}, 1)});
  ASSERT_TRUE(session.wins.at(0).variant);
  const std::map<std::string, std::string> &hashes = session.wins[0].variant->fileHashes;
  ASSERT_EQ(hashes.size(), 2u);
  EXPECT_THAT(hashes.begin()->first, testing::StartsWith("../"));
  EXPECT_EQ(hashes.begin()->second, hashHex(text));
  EXPECT_EQ(hashes.at("a.cu"), hashHex(kText));
}

TEST_F(SessionFlowTest, WithoutAProgramAMeasuredWinIsOfferedAndSaysWhy) {
  const SessionRecord session = integrate({win("k", {{1, kFastK}}, 1)}, false);
  EXPECT_EQ(session.wins[0].state, WinState::Unconfirmed);
  EXPECT_EQ(session.wins[0].reason,
            "not confirmed in the program: no program is known; give --run");
  EXPECT_THAT(session.confirmed, IsEmpty());
  EXPECT_EQ(session.offered.size(), 1u);
}

TEST_F(SessionFlowTest, AVariantKnowsAllTextThatItWasJudgedWith) {
  verdicts_["t<16>"] = Verdict::Same;
  const SessionRecord session =
      integrate({win("k", {{1, kFastK}}, 1), win("t<32>", {{1, kFastT}}, 2)});
  const auto namesOf = [](const TunedVariant &variant) {
    std::vector<std::string> names;
    for (const TunedText &use : variant.uses)
      names.push_back(use.name + ": " + kText.substr(use.begin, use.end - use.begin));
    return names;
  };
  ASSERT_TRUE(session.wins.at(0).variant);
  // Its launch, and that of the other instantiation, which was judged with its text.
  EXPECT_THAT(
      namesOf(*session.wins[0].variant),
      ElementsAre("the constant 'W': constexpr int W = 4;",
                  "the kernel 't': template <int N> __global__ void t(float *x) { x[0] = N * W; }",
                  "the launch:   t<16><<<1, 16>>>(0);", "the launch:   t<32><<<1, 32>>>(0);"));
  EXPECT_TRUE(session.wins[0].variant->deviceOnly);
  ASSERT_EQ(session.wins[0].variant->edits.size(), 1u);
  EXPECT_EQ(session.wins[0].variant->edits[0].text, kFastT);
  EXPECT_EQ(session.wins[0].variant->edits[0].file, "a.cu");
  EXPECT_EQ(session.wins[0].variant->fileHashes.at("a.cu"), hashHex(kText));
  EXPECT_TRUE(store_.sessions()->at(0).wins.at(1).variant);
}

TEST_F(SessionFlowTest, AVariantThatChangesAVariableDependsOnWhatLeadsToItsLaunch) {
  KernelSpec r = spec("r", 18);
  r.specializations = {specialization("_r", "r")};
  r.specializations[0].chunks = {
      chunk("__global__ void r(float *x, int n) { x[5] = n; }", ChunkRole::Kernel, "r")};
  r.launches = {site("_r", "  r<<<")};
  r.launches[0].grid = {"(n / 4)", "1", "1"};
  r.launches[0].gridVariable = LaunchVariable{range("n / 4", 0, 5), {"n"}};
  extraction_.kernels.push_back(r);
  subjects_.push_back({{r, r.specializations[0], kText}, {}, "r"});
  const auto launchUses = [&](const std::string &grid) {
    Win one = win("r", {}, 1);
    one.trial.candidate.launch.grid = {{grid, "1", "1"}};
    one.edits =
        writeBackEdits(one.subject->kernel, one.subject->specialization, one.trial.candidate)
            .value();
    const SessionRecord session = integrate({one});
    EXPECT_TRUE(session.wins.at(0).variant) << session.wins[0].reason;
    std::vector<std::string> texts;
    for (const TunedText &use : session.wins[0].variant->uses)
      texts.push_back(kText.substr(use.begin, use.end - use.begin));
    texts.erase(texts.begin()); // the kernel
    return texts;
  };
  EXPECT_THAT(
      launchUses("gridDim.x + n"),
      ElementsAre("  int blocks = n / 4;\n  cudaMemset(x, 0, n);\n  r<<<blocks, 64>>>(x, n);"));
  EXPECT_THAT(launchUses("64"), ElementsAre("  int blocks = n / 4;", "  r<<<blocks, 64>>>(x, n);"));
}

TEST_F(SessionFlowTest, OptionsOfTheCompilerAreForTheWholeFile) {
  for (TuneSubject &one : subjects_)
    one.kernel.unit = file();
  const std::string controls = (folder_.path() / "fast.acf").string();
  ASSERT_TRUE(writeFileAtomically(controls, "controls"));
  const auto with = [&](const std::string &label, std::map<std::size_t, std::string> chunks,
                        double saved, const CompilerOptions &options) {
    Win made = win(label, std::move(chunks), saved);
    made.trial.candidate.options = options;
    made.edits =
        must(writeBackEdits(made.subject->kernel, made.subject->specialization, made.candidate()));
    return made;
  };
  const CompilerOptions some{
      .loadCache = LoadCache::Cg, .controls = controls, .controlsHash = hashHex("controls")};
  const SessionRecord session =
      integrate({with("k", {{1, kFastK}}, 2, some), with("n", {}, 1, {.fastMath = true})});
  ASSERT_EQ(session.wins.size(), 2u);
  EXPECT_EQ(session.wins[1].state, WinState::Dropped);
  EXPECT_THAT(session.wins[1].reason,
              HasSubstr("with other options (-use_fast_math) than the win"));
  ASSERT_TRUE(session.wins[0].variant);
  EXPECT_FALSE(session.wins[0].variant->deviceOnly);
  EXPECT_THAT(*session.wins[0].variant->options,
              testing::ElementsAre("-Xptxas=-dlcm=cg", "--apply-controls={project}/fast.acf"));
  EXPECT_TRUE(session.wins[0].variant->fileHashes.contains("fast.acf"));
  EXPECT_THAT(session.offeredPatch, HasSubstr("set_source_files_properties(a.cu PROPERTIES"));
  EXPECT_EQ(session.offered.at(0).flags->size(), 2u);
  EXPECT_THAT(patched({session.offered.at(0)}), HasSubstr("/* compiled with -Xptxas=-dlcm=cg "));
  // With the same options both are in the patch.
  const SessionRecord both = integrate({with("k", {{1, kFastK}}, 2, some), with("n", {}, 1, some)});
  EXPECT_NE(both.wins[1].state, WinState::Dropped) << both.wins[1].reason;
}

TEST_F(SessionFlowTest, AConstantBelongsToTheHostToo) {
  verdicts_["t<16>"] = verdicts_["t<32>"] = verdicts_["k"] = Verdict::Faster;
  const SessionRecord session = integrate({win("k", {}, 1, {{"W", 8}})});
  ASSERT_TRUE(session.wins.at(0).variant) << session.wins[0].reason;
  EXPECT_FALSE(session.wins[0].variant->deviceOnly);
  EXPECT_EQ(session.wins[0].variant->edits.at(0).text, "8");
}

TEST(Compose, EditsClashWhereTheyCannotBothBeMade) {
  const auto edit = [](std::uint64_t begin, std::uint64_t end, const char *text) {
    return SourceEdit{{"a", begin, end}, text};
  };
  EXPECT_FALSE(clash(edit(1, 4, "x"), edit(1, 4, "x")));
  EXPECT_TRUE(clash(edit(1, 4, "x"), edit(1, 4, "y")));
  EXPECT_TRUE(clash(edit(1, 4, "x"), edit(3, 6, "x")));
  EXPECT_TRUE(clash(edit(2, 2, "x"), edit(1, 4, "y")));
  EXPECT_FALSE(clash(edit(1, 1, "x"), edit(1, 4, "y")));
  EXPECT_FALSE(clash(edit(4, 4, "x"), edit(1, 4, "y")));
  EXPECT_FALSE(clash(edit(2, 2, "x"), edit(2, 2, "y")));
}

} // namespace
} // namespace kopt
