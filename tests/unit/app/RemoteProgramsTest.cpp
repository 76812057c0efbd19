// SPDX-License-Identifier: Apache-2.0
// With a real `kopt worker` as the host, and a program between a fake CUDA driver and a fake CUPTI.
#include "driver/app/executor/RemotePrograms.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "fakes/Results.h"

#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class RemoteProgramsTest : public testing::Test {
protected:
  void SetUp() override {
    const fs::path built = KOPT_BINARY_DIR, fakes = built / "tests" / "fakes" / "cuda";
    if (!fs::exists(fakes / "fake_cuda_app"))
      GTEST_SKIP() << "this build has no capture library";
    fs::create_directories(there());
    fs::copy_file(fakes / "fake_cuda_app", there() / "app");
    write("k.cu", "text\n");
    write("run", "#!/bin/sh\ncat built\nexec ./app scale\n");
    fs::permissions(there() / "run", fs::perms::owner_all);
    const std::string start = fmt::format(
        "echo $$ > {}; export LD_LIBRARY_PATH={} KOPT_CUPTI={} FAKE_APP_CUBIN={}; unset "
        "KOPT_CUDA_PATH; "
        "exec {} worker --device=emulated",
        pid_.string(), (fakes / "cuda").string(), (fakes / "cupti" / "libcupti.so").string(),
        KOPT_SOURCE_DIR "/tests/unit/runtime/capture/captured.cubin",
        (built / "bin" / "kopt").string());
    worker_.emplace(WorkerStart{*processes_, [](const std::string &) {}},
                    WorkerCommand{[start](const auto &) {
                                    return std::vector<std::string>{"/bin/sh", "-c", start};
                                  },
                                  "gpu1"});
    programs_.emplace(std::vector<Worker *>{&*worker_}, ProjectPlace{here_, there()});
  }

  fs::path there() const { return folder_.path() / "project"; }
  void write(const std::string &name, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(there() / name, text));
  }
  /// Of a project that is here_ here.
  std::unique_ptr<ProgramPair> open() {
    ProgramRequest request;
    request.way.argv = {"/bin/sh", "-c", "cat k.cu > built"};
    request.way.directory = request.way.project = request.root = request.directory = here_;
    request.commands = {"./run"};
    return must(programs_->open(request, {}, [this](double) { ++runs_; }));
  }
  static FileEdits edits(const std::string &text) {
    return {"k.cu", hashHex(text), "", {{{"k.cu", 0, 4}, "fast"}}};
  }
  void killWorker() { ::kill(std::stoi(must(readFile(pid_))), SIGKILL); }

  const std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
  const TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-remote"));
  const fs::path here_ = fs::current_path(), pid_ = folder_.path() / "pid";
  std::optional<Worker> worker_;
  std::optional<RemotePrograms> programs_;
  int runs_ = 0;
};

TEST_F(RemoteProgramsTest, BothProgramsAreBuiltAndRunThereAlsoAfterTheWorkerWasLost) {
  const auto pair = open();
  const ProgramPair::Built built = pair->buildBoth({edits("text\n")});
  ASSERT_TRUE(built.old) << built.old.error().what;
  ASSERT_TRUE(built.fresh) << built.fresh.error().what;
  const auto printed = [&](Side side) {
    const std::vector<ProgramSample> samples = must(pair->run(side));
    EXPECT_EQ(samples.at(0).failure, "");
    EXPECT_FALSE(samples.at(0).kernels.empty());
    return samples.at(0).out.substr(0, 4);
  };
  EXPECT_EQ(printed(Side::Old), "text");
  EXPECT_EQ(printed(Side::New), "fast");
  killWorker();
  EXPECT_EQ(printed(Side::New), "fast") << "what was built is built again";
  EXPECT_EQ(printed(Side::Old), "text");
  EXPECT_EQ(worker_->starts(), 2u);
  EXPECT_EQ(runs_, 4);
  EXPECT_FALSE(must(pair->test(Side::New))) << "no tests are configured";
  EXPECT_FALSE(fs::exists(there() / "built")) << "the user's tree";
}

TEST_F(RemoteProgramsTest, AFileThatIsAnotherThereIsNotEdited) {
  const auto pair = open();
  const Status built = pair->buildBoth({edits("what is here\n")}).fresh;
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::StaleInput);
  EXPECT_EQ(built.error().where, (here_ / "k.cu").string()) << "as it is called here";
}

TEST_F(RemoteProgramsTest, PathsAreThoseOfEachSide) {
  ProgramRequest request;
  const std::string here = here_.string();
  // Only there, -f names a file. Each line of the output begins with a path, or with an option.
  request.way.argv = {
      "/bin/sh", "-c",
      fmt::format("grep -q -f{0}/k.cu k.cu && echo -I{0}/x && echo {0}/k.cu: bad && "
                  "echo /mnt{0} {0}more && exit 1; exit 0",
                  here)};
  request.way.directory = request.way.project = request.root = request.directory = here_;
  request.commands = {"./run"};
  const Status built = must(programs_->open(request, {}, {}))->buildOld({edits("text\n")});
  ASSERT_FALSE(built) << "the command was not moved";
  EXPECT_THAT(built.error().hint, HasSubstr(fmt::format("-I{0}/x\n{0}/k.cu: bad\n", here)));
  EXPECT_THAT(built.error().hint, HasSubstr(fmt::format("/mnt{0} {0}more", here)));
  EXPECT_THAT(built.error().hint, Not(HasSubstr(there().string())));
}

TEST_F(RemoteProgramsTest, AFolderThatIsNotThereIsNamed) {
  RemotePrograms elsewhere({&*worker_}, {here_, "/nowhere"});
  const auto identity = elsewhere.identityOf({"./run"});
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().what, HasSubstr("gpu1: there is no folder"));
  EXPECT_THAT(identity.error().hint, HasSubstr("--executor-folder"));
}

} // namespace
} // namespace kopt
