// SPDX-License-Identifier: Apache-2.0
// write_pages FOLDER: pages of synthetic runs, stored and read back, for tests that open them in a
// browser. Exits with 1 where one could not be written.
#include "driver/report/Report.h"
#include "driver/report/SessionReport.h"
#include "driver/support/FileSystem.h"
#include "unit/report/SampleHistories.h"

#include <cstdio>

namespace kopt {
namespace {

/// Through a database, as `kopt report` has it.
Result<RunHistory> storedAndRead(Store &store, const RunHistory &history) {
  KOPT_TRY(RunRecord run, store.beginRun(history.run));
  const std::int64_t id = run.id;
  run = history.run;
  run.id = id;
  KOPT_CHECK(store.updateRun(run));
  for (const Trial &trial : history.trials) {
    KOPT_TRY(const Trial stored, store.recordTrial(id, trial));
    static_cast<void>(stored);
  }
  for (const Event &event : history.events)
    KOPT_CHECK(store.recordEvent(id, event));
  if (history.session) {
    SessionRecord session = *history.session;
    session.wins[0].run = id;
    KOPT_TRY(const SessionRecord stored, store.putSession(session));
    static_cast<void>(stored);
  }
  return loadRun(store, run);
}

Status writePages(const std::filesystem::path &folder) {
  KOPT_TRY(const TemporaryDirectory databases, TemporaryDirectory::create("kopt-pages"));
  const auto write = [&](const char *name, const RunHistory &history) -> Status {
    KOPT_TRY(const auto store, openStore(databases.path() / (std::string(name) + ".db")));
    KOPT_TRY(const RunHistory read, storedAndRead(*store, history));
    KOPT_CHECK(writeFileAtomically(folder / (std::string(name) + ".html"), renderHtml(read)));
    if (!read.session)
      return {};
    return writeFileAtomically(folder / (std::string(name) + "-session.html"),
                               renderSessionHtml(*read.session));
  };
  KOPT_CHECK(write("win", syntheticRun(40)));
  RunHistory lost = withoutWin(syntheticRun(40));
  lost.run.name = "transpose-lost";
  KOPT_CHECK(write("lost", lost));
  RunHistory many = syntheticRun(200);
  many.run.name = "transpose-many";
  KOPT_CHECK(write("many", many));
  KOPT_CHECK(write("interrupted", interrupted(syntheticRun(40))));
  KOPT_CHECK(write("hostile", hostileRun()));
  RunHistory nothing;
  nothing.run = sampleRun();
  nothing.run.name = "transpose-nothing";
  return write("nothing", nothing);
}

} // namespace
} // namespace kopt

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_pages FOLDER\n");
    return 1;
  }
  if (const kopt::Status written = kopt::writePages(argv[1]); !written) {
    std::fprintf(stderr, "write_pages: %s\n", written.error().what.c_str());
    return 1;
  }
  return 0;
}
