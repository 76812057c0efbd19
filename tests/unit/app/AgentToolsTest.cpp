// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/AgentTools.h"

#include "driver/llm/Schema.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/Results.h"

#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// One kernel. A candidate whose text has "wrong" is wrong; each operation takes ten seconds.
class FakeBench final : public AgentBench {
public:
  explicit FakeBench(fakes::FakeClock &clock) : clock_(clock) {
    subject_.label = "scale";
    subject_.kernel.name = "scale";
    subject_.kernel.file = "/p/scale.cu";
    subject_.sliceText = "__global__ void scale() {}\n";
    subject_.declaration.requirements = {"n % 4 == 0"};
    subject_.kernel.specializations.resize(2);
    subject_.kernel.specializations[1].symbol = "other";
    subject_.kernel.specializations[1].expression = "scale<double>";
    workload_.launches.push_back({.name = "big", .weight = 1, .grid = {40, 1, 1}});
    workload_.launches.front().bindings["n"] = 4096;
  }

  void attend(const ToolCall *call) override { attended += call != nullptr; }
  Result<std::vector<AgentKernel>> kernels() override {
    return std::vector<AgentKernel>{{"scale", "/p/scale.cu", 3, 0.75, ""},
                                    {"odd", "", 0, std::nullopt, "it has no slice"}};
  }
  Result<KernelView> view(const std::string &kernel) override {
    if (kernel != "scale")
      return makeError(ErrorCode::Usage, "there is no kernel '" + kernel + "'", "name one: scale");
    clock_.advance(10);
    return KernelView{subject_, workload_, baseline_, device_, {}, 0.75};
  }
  Result<TrialOutcome> judge(const std::string &, const std::filesystem::path &candidate,
                             Stage upTo) override {
    clock_.advance(10);
    const std::string text = must(readFile(candidate));
    judged.push_back(fmt::format("{} {}", toString(upTo), text));
    TrialOutcome outcome{"scale", device_, {}, baseline_, {}};
    outcome.trial.stage = upTo;
    if (text.find("wrong") != text.npos) {
      outcome.trial.verdict = Verdict::WrongResult;
      outcome.trial.reason = "out[0] is 2, expected 1";
    } else if (upTo >= Stage::Time) {
      outcome.trial.verdict = Verdict::Faster;
      outcome.trial.speedup = Speedup{1.5, 1.4, 1.6};
      outcome.trial.checks = {{CheckId::Outputs, CheckState::Passed, ""}};
      outcome.trial.assurance.gaps = {{CheckId::Sizes, "no other sizes"}};
    } else {
      outcome.trial.reason = "nothing speaks against it";
    }
    return outcome;
  }
  Result<ProfileReport> profile(const std::string &, const std::filesystem::path &candidate,
                                bool ncu) override {
    ProfileReport report;
    report.label = "scale";
    report.launch = workload_.launches.front();
    report.diagnosis.state = candidate.empty() ? "original" : "changed";
    report.missing = {ncu ? "Nsight Compute" : "stalls"};
    return report;
  }
  Result<MachineCode> code(const std::string &, const std::filesystem::path &) override {
    MachineCode code{"sm_90", {{"ptxas__registers", 40}}, SassListing(), "scale"};
    code.listing->functions = {{"scale", {}, {}}};
    for (unsigned i = 0; i < 5; ++i)
      code.listing->functions[0].instructions.push_back(
          {16 * i, "", fmt::format("OP{}", i), "R1", "", {{"/p/scale.cu", 7 + i / 2}}, 0});
    return code;
  }
  Result<std::vector<Memo>> memos(const std::string &kernel) override {
    return std::vector<Memo>{{kernel, "prog", "sm_90", 3, {"avoid: tile: 0.9x at best"}}};
  }
  Result<std::vector<Passage>> passages(const std::string &) override {
    return std::vector<Passage>();
  }

  std::vector<std::string> judged;
  int attended = 0;

private:
  fakes::FakeClock &clock_;
  TuneSubject subject_;
  Workload workload_;
  Trial baseline_;
  DeviceInfo device_;
};

/// A kopt that says two lines and writes a result, or that never ends.
class FakeKopt final : public InteractiveProcess {
public:
  FakeKopt(std::filesystem::path file, std::string result, bool &killed)
      : file_(std::move(file)), result_(std::move(result)), killed_(killed) {}
  Status writeLine(const std::string &) override { return {}; }
  Result<std::string> readLine(Duration) override {
    if (result_.empty())
      return makeError(ErrorCode::BudgetEnded, "nothing yet");
    if (said_++ < 2)
      return fmt::format("step {}", said_);
    EXPECT_TRUE(writeFileAtomically(file_, result_));
    return makeError(ErrorCode::Environment, "it ended with exit code 0");
  }
  std::string errorTail() override { return ""; }
  void kill() override { killed_ = true; }
  int wait() override { return 0; }

private:
  std::filesystem::path file_;
  std::string result_;
  bool &killed_;
  int said_ = 0;
};

class FakeKopts final : public ProcessRunner {
public:
  Result<ProcessResult> run(const ProcessSpec &) override {
    return makeError(ErrorCode::Environment, "not run");
  }
  Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
    words.assign(spec.argv.begin() + 6, spec.argv.end()); // after the shell's and kopt itself
    return std::make_unique<FakeKopt>(spec.argv[4], result, killed);
  }
  std::vector<std::string> words;
  std::string result;
  bool killed = false;
};

class AgentToolsTest : public testing::Test {
protected:
  void make(AgentSettings settings) {
    settings.project = folder_.path();
    tools_.emplace(must(AgentTools::make(bench_, kopts_, clock_, std::move(settings))));
  }
  ToolResult call(const std::string &name, const json &arguments = json::object()) {
    const auto tool = std::ranges::find(tools_->tools(), name, &Tool::name);
    EXPECT_THAT(schemaBreaches(arguments, tool->input), ElementsAre());
    return tools_->call(
        *tool, arguments,
        {cancelled_, [&](double, double, const std::string &what) { progress_.push_back(what); }});
  }

  TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-agent-tools"));
  fakes::FakeClock clock_;
  FakeBench bench_{clock_};
  FakeKopts kopts_;
  std::optional<AgentTools> tools_;
  std::atomic<bool> cancelled_ = false;
  std::vector<std::string> progress_;
};

TEST_F(AgentToolsTest, EachToolOfTheTableWorksAndSaysWhenToUseIt) {
  make({.budgetSeconds = 1000});
  kopts_.result = "{}";
  std::set<std::string> changing;
  for (const Tool &tool : tools_->tools()) {
    EXPECT_GT(tool.description.size(), 60u) << tool.name;
    EXPECT_EQ(tool.input["type"], "object");
    EXPECT_EQ(tool.input["additionalProperties"], false);
    if (tool.changesFiles)
      changing.insert(tool.name);
    json arguments = json::object();
    if (tool.input["properties"].contains("kernel"))
      arguments["kernel"] = "scale";
    if (tool.input["properties"].contains("source"))
      arguments["source"] = "text";
    if (tool.name == "tune")
      arguments["seconds"] = 10;
    if (tool.name == "search")
      arguments["words"] = "loads";
    if (tool.name == "read") {
      EXPECT_TRUE(writeFileAtomically(folder_.path() / "a.cu", "1\n2\n3\n"));
      arguments["file"] = "a.cu";
    }
    const ToolResult result = call(tool.name, arguments);
    EXPECT_FALSE(result.failed) << tool.name << ": " << result.text;
    EXPECT_TRUE(result.data.is_object() || tool.name == "read" || tool.name == "apply")
        << tool.name;
  }
  EXPECT_THAT(changing, ElementsAre("apply"));
  EXPECT_EQ(bench_.attended, int(tools_->tools().size()));
}

TEST_F(AgentToolsTest, AKernelIsToldWithItsLaunchesAndWhatTheUserRequires) {
  make({.budgetSeconds = 1000});
  EXPECT_THAT(call("list").text, HasSubstr("scale (/p/scale.cu:3), 75.0% of the kernel time"));
  EXPECT_THAT(call("list").text, HasSubstr("odd: left out: it has no slice"));
  const ToolResult kernel = call("kernel", {{"kernel", "scale"}});
  EXPECT_THAT(kernel.text, HasSubstr("big: 100.0% of its time, grid 40x1x1"));
  EXPECT_THAT(kernel.text, HasSubstr("n = 4096"));
  EXPECT_THAT(kernel.text, HasSubstr("The user requires: n % 4 == 0"));
  EXPECT_THAT(kernel.text, HasSubstr("has to serve: scale<double>"));
  EXPECT_EQ(kernel.data["source"], "__global__ void scale() {}\n");
  const ToolResult other = call("kernel", {{"kernel", "other"}});
  EXPECT_TRUE(other.failed);
  EXPECT_THAT(other.text, HasSubstr("name one: scale"));
}

TEST_F(AgentToolsTest, ALookPassesAndATrialDecidesOnce) {
  make({.budgetSeconds = 1000});
  EXPECT_EQ(call("check", {{"source", "good"}}).data["verdict"], "Passed");
  const ToolResult wrong = call("check", {{"source", "wrong"}});
  EXPECT_FALSE(wrong.failed); // a verdict, not a failure of the tool
  EXPECT_EQ(wrong.data["verdict"], "WrongResult");
  EXPECT_THAT(call("compile", {{"source", "good"}}).text, HasSubstr("machine code for sm_90"));
  EXPECT_THAT(call("compile", {{"source", "wrong"}}).text, Not(HasSubstr("machine code")));
  const ToolResult timed = call("time", {{"source", "good"}});
  EXPECT_THAT(timed.text, HasSubstr("Faster"));
  EXPECT_THAT(timed.text, HasSubstr("not shown: sizes: no other sizes"));
  EXPECT_EQ(timed.data["speedup"]["low"], 1.4);
  EXPECT_THAT(call("time", {{"source", "good"}}).text, HasSubstr("was timed before"));
  EXPECT_THAT(bench_.judged,
              ElementsAre("verify good", "verify wrong", "build good", "build wrong", "time good"));
  const ToolResult history = call("history", {{"kernel", "scale"}});
  EXPECT_EQ(history.data["attempts"].size(), 5u);
  EXPECT_THAT(history.text, HasSubstr("WrongResult: out[0] is 2, expected 1"));
  EXPECT_THAT(history.text, HasSubstr("avoid: tile: 0.9x at best"));
}

TEST_F(AgentToolsTest, WithoutBudgetOnlyWhatNeedsNoDeviceIsDone) {
  make({.budgetSeconds = 15});
  EXPECT_FALSE(call("check", {{"source", "good"}}).failed);
  EXPECT_FALSE(call("time", {{"source", "good"}}).failed); // begun before it was used up
  for (const char *name : {"check", "time", "profile", "submit"})
    EXPECT_THAT(call(name, {{"source", "good"}}).text, HasSubstr("budget of 15 s")) << name;
  EXPECT_FALSE(call("compile", {{"source", "good"}}).failed);
  EXPECT_FALSE(call("sass").failed);
}

TEST_F(AgentToolsTest, MachineCodeIsGivenInParts) {
  make({.budgetSeconds = 15});
  const ToolResult part = call("sass", {{"from", 2}, {"lines", 2}});
  EXPECT_THAT(part.text, HasSubstr("2 0010 OP1 R1  // /p/scale.cu:7\n"));
  EXPECT_THAT(part.text, HasSubstr("3 0020 OP2 R1  // /p/scale.cu:8\n"));
  EXPECT_THAT(part.text, Not(HasSubstr("OP3")));
  EXPECT_THAT(part.text, HasSubstr("[2 more instructions: from = 4]"));
  EXPECT_EQ(part.data["instructions"], 5);
}

TEST_F(AgentToolsTest, WhatIsSubmittedGoesToATuneOfItsOwn) {
  make({.files = {"scale.cu", "--run=./main"}, .nvccFlags = {"-O3"}, .budgetSeconds = 100});
  kopts_.result =
      R"({"results": [{"kernel": "scale", "run": "scale-7", "stop_reason": "all were judged", "given": [{"verdict": "Faster", "reason": "by far"}],
    "winner": {"title": "given", "patch": "p.patch", "speedup": {"estimate": 1.5}}}], "error": null})";
  const ToolResult done =
      call("submit", {{"kernel", "scale"}, {"source", "good"}, {"seconds", 500}});
  EXPECT_FALSE(done.failed);
  EXPECT_THAT(done.text,
              HasSubstr("winner: given, 1.500x; patch: p.patch; report: kopt://report/scale-7"));
  EXPECT_THAT(done.text, HasSubstr("the candidate: Faster: by far"));
  EXPECT_THAT(progress_, ElementsAre("step 1", "step 2"));
  const std::string candidate = kopts_.words[6].substr(std::string("--candidate=").size());
  EXPECT_THAT(kopts_.words,
              ElementsAre("tune", "scale.cu", "--run=./main", "--json", "--kernel=scale",
                          "--budget-seconds=100", "--candidate=" + candidate, "--proposers=given",
                          "--", "-O3"));
  EXPECT_EQ(must(readFile(candidate)), "good");
  EXPECT_EQ(call("history").data["attempts"][0]["tool"], "submit");
  kopts_.result = R"({"results": [], "error": {"what": "no device", "hint": "give one"}})";
  const ToolResult failed = call("tune", {{"kernel", "scale"}, {"seconds", 20}});
  EXPECT_TRUE(failed.failed);
  EXPECT_THAT(failed.text, HasSubstr("no device; give one"));
  kopts_.result = "no JSON";
  EXPECT_THAT(call("tune", {{"kernel", "scale"}, {"seconds", 20}}).text,
              HasSubstr("kopt tune ended without a result: step 2"));
}

TEST_F(AgentToolsTest, ACancelledSearchIsKilled) {
  make({.budgetSeconds = 100});
  cancelled_ = true;
  EXPECT_TRUE(call("tune", {{"kernel", "scale"}, {"seconds", 20}}).failed);
  EXPECT_TRUE(kopts_.killed);
}

TEST_F(AgentToolsTest, FilesAreAppliedOnlyWhereTheUserAllowedIt) {
  make({.budgetSeconds = 100});
  EXPECT_THAT(call("apply", {{"run", "scale-7"}}).text, HasSubstr("kopt apply --run-id scale-7"));
  EXPECT_THAT(kopts_.words, ElementsAre());
  make({.budgetSeconds = 100, .mayApply = true});
  kopts_.result = R"({"results": [{"file": "scale.cu", "changed": true}], "error": null})";
  EXPECT_THAT(call("apply", {{"run", "--modelled"}}).text, HasSubstr("changed scale.cu"));
  EXPECT_THAT(kopts_.words, ElementsAre("apply", "--json", "--run-id=--modelled"));
}

} // namespace
} // namespace kopt
