// SPDX-License-Identifier: Apache-2.0
#include "driver/store/Store.h"

#include "driver/model/Json.h"
#include "driver/store/Database.h"
#include "driver/support/FileSystem.h"
#include "unit/model/EachChange.h"
#include "unit/model/SampleRecords.h"
#include "unit/store/SampleRun.h"

#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <limits>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create("kopt-store");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*folder));
    file_ = folder_->path() / ".kopt/kopt.db";
  }
  std::unique_ptr<Store> open() {
    auto store = openStore(file_);
    EXPECT_TRUE(store.has_value()) << (store ? "" : store.error().what);
    return store ? std::move(*store) : nullptr;
  }
  std::unique_ptr<TemporaryDirectory> folder_;
  fs::path file_;
};

TEST_F(StoreTest, AReasonIsTextForWhoeverReadsTheDatabase) {
  auto store = open();
  const RunRecord run = store->beginRun(sampleRun()).value();
  ASSERT_TRUE(store->recordTrial(run.id, sampleBaseline()));
  Trial trial = sampleWinner();
  trial.reason = "it said \xff";
  ASSERT_TRUE(store->recordTrial(run.id, trial));
  EXPECT_EQ(store->trials(run.id)->back().reason, "it said \xef\xbf\xbd");
}

TEST_F(StoreTest, GivesBackWhatWasRecorded) {
  Trial trial = sampleWinner();
  trial.candidate.chunks[3] = std::string("bytes \xff\xfe and \0 zero", 18);
  trial.candidate.launch.sharedBytes = "4224";
  trial.counters["odd"] = std::nan("");
  trial.timings[0].speedup.high = std::numeric_limits<double>::infinity();
  trial.timings[0].speedup.processes = 2;
  trial.timings[0].samples[1].process = 1;
  trial.speedup->processes = 2;
  trial.gpu = "1 GPU-8f";
  RunRecord run;
  {
    auto store = open();
    run = store->beginRun(sampleRun()).value();
    EXPECT_GT(run.id, 0);
    ASSERT_TRUE(store->recordTrial(run.id, sampleBaseline()).has_value());
    EXPECT_GT(store->recordTrial(run.id, trial).value().id, 0);
    run.state = RunState::Finished;
    run.patchText = "the patch";
    run.edits = {{"a.cu", "11", "12", {{{"a.cu", 3, 3}, "// \xff\n"}, {{"a.cu", 5, 9}, ""}}},
                 {"sub/b.h", "21", "22", {{{"sub/b.h", 0, 4}, "int"}}}};
    ASSERT_TRUE(store->updateRun(run).has_value());
    run.edits[0].edits[1].range.end = 8; // recorded again, as by a run that goes on
    run.winnerHash = trial.candidateHash;
    ASSERT_TRUE(store->updateRun(run).has_value());
  }
  auto store = open();
  ASSERT_EQ(store->runs().value().size(), 1u);
  RunRecord again = store->runs().value().front();
  EXPECT_EQ(canonicalJson(again), canonicalJson(run));

  std::vector<Trial> trials = store->trials(run.id).value();
  EXPECT_EQ(canonicalJson(store->baseline(run.id).value().value()), canonicalJson(trials.at(0)));
  EXPECT_FALSE(store->baseline(run.id + 1).value());
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_FALSE(trials[0].speedup.has_value());
  trial.id = trials[1].id;
  EXPECT_EQ(canonicalJson(trials[1]), canonicalJson(trial));
  EXPECT_EQ(trials[1].candidate.chunks.at(3), std::string("bytes \xff\xfe and \0 zero", 18));
  EXPECT_TRUE(std::isinf(trials[1].timings[0].speedup.high));
  EXPECT_TRUE(std::isnan(trials[1].counters.at("odd")));
}

TEST_F(StoreTest, KeepsEveryFieldOfATrial) {
  auto store = open();
  Trial trial = fullTrial();
  std::size_t number = 0;
  eachChange(trial, "", [&](const std::string &path) {
    if (path == "/id") // given by the store
      return;
    RunRecord run = sampleRun();
    run.name = std::to_string(++number);
    run = store->beginRun(run).value();
    ASSERT_TRUE(store->recordTrial(run.id, trial)) << path;
    const Result<std::vector<Trial>> read = store->trials(run.id);
    ASSERT_TRUE(read) << path << ": " << read.error().what;
    Trial expected = trial;
    expected.id = read->at(0).id;
    EXPECT_EQ(canonicalJson(read->at(0)), canonicalJson(expected)) << path;
  });
  EXPECT_GT(number, 60u);
}

TEST_F(StoreTest, CountersMayComeLater) {
  auto store = open();
  const RunRecord run = store->beginRun(sampleRun()).value();
  Trial early = sampleWinner();
  early.counters.clear();
  early.counterSource.clear();
  early.stages = {{"build/screen", 0.5}, {"verify/draw", 0.25}};
  Trial trial = store->recordTrial(run.id, early).value();
  EXPECT_EQ(store->trials(run.id).value().at(0).stages, early.stages);
  trial.counters = {{"dram__bytes_read.sum", 4096}};
  trial.counterSource = "ncu";
  trial.stages["profile/ncu"] = 2;
  trial.seconds = 3;
  trial.findings.push_back({"profile", Severity::Note, "no roofline", ""});
  ASSERT_TRUE(store->recordCounters(trial).has_value());
  const Trial read = store->trials(run.id).value().at(0);
  EXPECT_EQ(read.counters, trial.counters);
  EXPECT_EQ(read.counterSource, "ncu");
  EXPECT_EQ(read.stages, trial.stages);
  EXPECT_EQ(read.seconds, 3);
  EXPECT_EQ(read.findings.back().message, "no roofline");
  EXPECT_EQ(read.verdict, early.verdict);
  ASSERT_TRUE(store->recordCounters(trial).has_value()); // again is no harm
  trial.id = 999;
  EXPECT_FALSE(store->recordCounters(trial).has_value());
}

TEST_F(StoreTest, RefusesToRepeatATrial) {
  auto store = open();
  RunRecord run = store->beginRun(sampleRun()).value();
  ASSERT_TRUE(store->recordTrial(run.id, sampleWinner()).has_value());
  auto again = store->recordTrial(run.id, sampleWinner());
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::Internal);
  EXPECT_THAT(again.error().what, HasSubstr("UNIQUE constraint failed: trials.run_id"));
  EXPECT_EQ(store->trials(run.id).value().size(), 1u);
  Trial confirmation = sampleWinner();
  confirmation.purpose = Purpose::Confirmation;
  EXPECT_TRUE(store->recordTrial(run.id, confirmation).has_value());
  EXPECT_FALSE(store->recordTrial(run.id, confirmation).has_value());
  RunRecord other = sampleRun();
  other.name = "another";
  EXPECT_TRUE(store->recordTrial(store->beginRun(other).value().id, sampleWinner()).has_value());
}

TEST_F(StoreTest, KeepsDecisionsWhoseWordsAreNoUtf8) {
  auto store = open();
  RunRecord run = store->beginRun(sampleRun()).value();
  // As of a comment in Latin-1 that a title quotes.
  ASSERT_TRUE(store->recordEvent(run.id, {0, 1, Accept{"abc", "h\xF6he", 1.5}}).has_value());
  EXPECT_EQ(std::get<Accept>(store->events(run.id).value().at(0).what).title, "h\xF6he");
}

TEST_F(StoreTest, KeepsDecisionsAndModelCallsInOrder) {
  auto store = open();
  RunRecord run = store->beginRun(sampleRun()).value();
  ASSERT_TRUE(store->recordEvent(run.id, {0, 1, Offered{1, "params", std::vector<Candidate>(6)}})
                  .has_value());
  ASSERT_TRUE(
      store
          ->recordEvent(run.id,
                        {0, 2, Accept{"abc", "TILE = 32", 1.5}, {{"speedup low", "abc", 1.4}}})
          .has_value());
  std::vector<Event> events = store->events(run.id).value();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].sequence, 2);
  EXPECT_EQ(events[1].round, 2);
  EXPECT_EQ(std::get<Offered>(events[0].what).candidates.size(), 6u);
  EXPECT_EQ(std::get<Accept>(events[1].what).title, "TILE = 32");
  EXPECT_EQ(events[1].evidence.at(0).value, 1.4);

  ASSERT_TRUE(
      store->recordModelCall(run.id, {"h1", "coder", "m", "request", "reply", 10, 20, 5, 1.5})
          .has_value());
  EXPECT_EQ(store->modelCalls(run.id).value().at(0).outputTokens, 20);
  EXPECT_EQ(store->modelCalls(run.id).value().at(0).reply, "reply");
}

TEST_F(StoreTest, ASessionIsReplacedWhole) {
  SessionRecord session;
  session.name = "session-1";
  session.root = "/project";
  session.startedUtc = "2026-01-31T12:00:00Z";
  {
    auto store = open();
    RunRecord other = sampleRun();
    other.name = "transpose-2";
    for (const RunRecord &run : {sampleRun(), other}) {
      SessionWin &win = session.wins.emplace_back();
      win.run = store->beginRun(run)->id;
      win.runName = run.name;
      win.reason = "of \xff";
    }
    session.offered = {{"src/t.cu", "11", "22", {{{"src/t.cu", 3, 5}, std::string("a\0b", 3)}}}};
    session.offeredPatch = "a mail";
    const auto begun = store->putSession(session);
    ASSERT_TRUE(begun) << begun.error().what;
    session = *begun;
    session.finishedUtc = "2026-01-31T12:01:00Z";
    session.wins[0].state = WinState::Confirmed;
    ProgramTime &time = session.wins[0].program.emplace();
    time.runs = {{2, 1, 0}, {2.5, 1.25, 1}};
    time.speedup.high = std::numeric_limits<double>::infinity();
    session.composed = {{"t<16>", "t.cu:5", Verdict::Same, "so it is"}};
    session.confirmation.notes = {"a note"};
    session.confirmed = session.offered;
    session.confirmed[0].edits.push_back({{"src/t.cu", 9, 9}, "x"});
    session.offered.clear();
    ASSERT_TRUE(store->putSession(session));
  }
  const auto stored = open()->sessions();
  ASSERT_TRUE(stored) << stored.error().what;
  ASSERT_EQ(stored->size(), 1u);
  const SessionRecord &read = stored->front();
  EXPECT_EQ(canonicalJson(read), canonicalJson(session));
  EXPECT_EQ(read.confirmed.at(0).edits.at(0).text, std::string("a\0b", 3));
}

TEST_F(StoreTest, RunsWithTheSameInputsStayApartInTheirOrder) {
  auto store = open();
  RunRecord run = sampleRun();
  run.state = RunState::Running;
  for (const char *name : {"a", "b", "c"}) {
    run.name = name;
    ASSERT_TRUE(store->beginRun(run).has_value());
  }
  RunRecord middle = store->runs().value().at(1);
  middle.state = RunState::Finished;
  ASSERT_TRUE(store->updateRun(middle).has_value());
  const std::vector<RunRecord> runs = store->runs().value();
  ASSERT_EQ(runs.size(), 3u);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].name, std::string(1, char('a' + i)));
    EXPECT_EQ(runs[i].state, i == 1 ? RunState::Finished : RunState::Running);
    EXPECT_EQ(runs[i].inputsHash, run.inputsHash);
  }
}

TEST_F(StoreTest, AKillBetweenAnyTwoInstructionsLosesNothingThatWasReturned) {
  RunRecord run = open()->beginRun(sampleRun()).value();
  for (int attempt = 0; attempt < 5; ++attempt) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    pid_t child = ::fork();
    if (child == 0) {
      auto store = openStore(file_);
      for (int i = 0; store; ++i) {
        Trial trial = sampleWinner();
        trial.candidateHash = std::to_string(attempt) + "/" + std::to_string(i);
        trial.timings[0].samples.assign(50, {1, 2});
        if (!(*store)->recordTrial(run.id, trial))
          break;
        if (::write(pipe[1], "t", 1) != 1)
          break;
      }
      ::_exit(1);
    }
    ::close(pipe[1]);
    char seen = 0;
    std::size_t returned = 0;
    while (returned < std::size_t(1 + 3 * attempt) && ::read(pipe[0], &seen, 1) == 1)
      ++returned;
    ::usleep(unsigned(attempt) * 700);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(pipe[0], &seen, 1) == 1)
      ++returned;
    ::close(pipe[0]);

    std::size_t found = 0;
    const std::vector<Trial> trials = open()->trials(run.id).value();
    for (const Trial &trial : trials) {
      EXPECT_EQ(trial.timings.at(0).samples.size(), 50u);
      found += trial.candidateHash.rfind(std::to_string(attempt) + "/", 0) == 0;
    }
    EXPECT_GE(found, returned);
    EXPECT_LE(found, returned + 1);
  }
}

TEST_F(StoreTest, RefusesAnotherSchemaAndSaysWhatToDo) {
  for (const char *schema : {"3", "9999"}) {
    ASSERT_TRUE((*Database::open(file_))->execute(fmt::format("PRAGMA user_version = {}", schema)));
    const auto store = openStore(file_);
    ASSERT_FALSE(store.has_value());
    const auto look = countRuns(file_);
    ASSERT_FALSE(look.has_value());
    for (const Error &error : {store.error(), look.error()}) {
      EXPECT_EQ(error.code, ErrorCode::Environment);
      EXPECT_THAT(error.what, HasSubstr(file_.string()));
      EXPECT_THAT(error.what,
                  HasSubstr(fmt::format("another version of kopt, with schema {} ", schema)));
      EXPECT_THAT(error.hint, HasSubstr("move the file away"));
    }
  }
}

TEST_F(StoreTest, ARecordThatCannotBeReadIsNamedByItsRow) {
  auto store = open();
  const RunRecord run = store->beginRun(sampleRun()).value();
  ASSERT_TRUE(store->recordTrial(run.id, sampleBaseline()));
  ASSERT_TRUE(store->recordTrial(run.id, sampleWinner()));
  ASSERT_TRUE((*Database::open(file_))
                  ->execute("UPDATE trials SET record = json_remove(record, '$.verdict') "
                            "WHERE id = 2"));
  const auto trials = store->trials(run.id);
  ASSERT_FALSE(trials);
  EXPECT_THAT(trials.error().what, HasSubstr(file_.string() + ": row 2 of "));
  EXPECT_THAT(trials.error().what, HasSubstr("missing 'verdict' at /"));
}

TEST_F(StoreTest, ALookCountsRuns) {
  ASSERT_TRUE(open()->beginRun(sampleRun()));
  EXPECT_EQ(countRuns(file_).value(), 1);
}

TEST_F(StoreTest, ALookMakesNoDatabaseAndRefusesWhatIsNone) {
  EXPECT_FALSE(countRuns(file_));
  EXPECT_FALSE(fs::exists(file_));
  ASSERT_TRUE(writeFileAtomically(file_, ""));
  EXPECT_EQ(countRuns(file_).value(), 0);
  EXPECT_EQ(fs::file_size(file_), 0u);
  ASSERT_TRUE(writeFileAtomically(file_, std::string(4096, 'x')));
  EXPECT_EQ(countRuns(file_).error().code, ErrorCode::Environment);
}

TEST_F(StoreTest, RefusesAFileThatIsNoDatabase) {
  ASSERT_TRUE(writeFileAtomically(file_, std::string(4096, 'x')).has_value());
  auto store = openStore(file_);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::Environment);
  EXPECT_THAT(store.error().what, HasSubstr(file_.string()));
}

TEST_F(StoreTest, NamesAFolderThatCannotBeWritten) {
  file_ = "/proc/kopt/kopt.db";
  auto store = openStore(file_);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::Environment);
  EXPECT_THAT(store.error().what, HasSubstr("/proc/kopt"));
}

TEST_F(StoreTest, AFullDiskIsAnErrorThatKeepsWhatIsThere) {
  const fs::path disk = folder_->path() / "disk";
  ASSERT_TRUE(createDirectories(disk).has_value());
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  file_ = disk / "kopt.db";
  std::size_t recorded = 0;
  Error error;
  {
    auto store = open();
    RunRecord run = store->beginRun(sampleRun()).value();
    for (; recorded < 200; ++recorded) {
      Trial trial = sampleWinner();
      trial.candidateHash = std::to_string(recorded);
      trial.buildLog.assign(20000, char('a' + recorded % 26));
      trial.buildLog += std::to_string(recorded);
      if (auto result = store->recordTrial(run.id, trial); !result) {
        error = result.error();
        break;
      }
    }
    EXPECT_EQ(store->trials(run.id).value().size(), recorded);
  }
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
  EXPECT_GT(recorded, 0u);
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.what, HasSubstr(file_.string()));
  EXPECT_THAT(error.hint, HasSubstr("space"));
}

TEST_F(StoreTest, AReadOnlyDiskIsNamed) {
  const fs::path disk = folder_->path() / "disk";
  ASSERT_TRUE(createDirectories(disk).has_value());
  if (::mount("tmpfs", disk.c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0)
    GTEST_SKIP() << "mounting a read-only file system is not permitted here";
  file_ = disk / "kopt.db";
  auto store = openStore(file_);
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, ErrorCode::Environment);
  EXPECT_THAT(store.error().what, HasSubstr(file_.string()));
}

TEST_F(StoreTest, TwoProcessesShareOneFile) {
  auto first = open(), second = open();
  RunRecord run = first->beginRun(sampleRun()).value();
  ASSERT_TRUE(second->recordTrial(run.id, sampleWinner()).has_value());
  EXPECT_EQ(first->trials(run.id).value().size(), 1u);
}

} // namespace
} // namespace kopt
