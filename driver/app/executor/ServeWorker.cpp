// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/ServeWorker.h"

#include "driver/app/executor/FileKeep.h"
#include "driver/app/executor/LocalExecutor.h"
#include "driver/app/executor/PlacedTask.h"
#include "driver/app/executor/ServePrograms.h"
#include "driver/app/executor/VersionsTask.h"
#include "driver/compare/versions/VersionBench.h"
#include "driver/device/worker/Protocol.h"
#include "driver/model/Version.h"
#include "driver/support/FileSystem.h"
#include "driver/support/LineStream.h"

#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace kopt {

namespace fs = std::filesystem;
namespace protocol = worker_protocol;
using nlohmann::json;

namespace {

constexpr std::uintmax_t kKeptBytes = 8ull << 30; ///< of files, for later workers of this host

struct Request {
  std::uint64_t id = 0;
  std::string method;
  json params;
};

/// The two streams. Messages are read ahead on a thread, so that the end of the input is noticed
/// while something is judged, and another thread shows that the worker is alive.
class Streams {
public:
  /// `interrupted`, by the user's signal, ends them as the input's end does; it may be null.
  Streams(int in, int out, const std::atomic<bool> *interrupted, std::atomic<bool> &ended)
      : out_(out), ended_(ended), reader_([this, in, interrupted] {
          readLines(
              in, protocol::kLongestMessage, [this](std::string_view line) { receive(line); },
              [&] { return ended_ || (interrupted && *interrupted); });
          end();
        }),
        alive_([this] { beat(); }) {}
  ~Streams() {
    end();
    alive_.join();
    reader_.join();
  }

  /// The next request; nothing at the end of the input.
  std::optional<Request> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !requests_.empty(); });
    if (requests_.empty() || ended_)
      return std::nullopt;
    Request request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

  void write(const json &message) {
    const std::string text = dumpJson(message) + "\n";
    const std::lock_guard lock(writing_);
    if (!writeAll(out_, text))
      end();
  }

private:
  void end() {
    {
      const std::lock_guard lock(mutex_); // else next() could miss it
      ended_ = true;
    }
    changed_.notify_all();
  }

  void receive(std::string_view line) {
    const json message = json::parse(line, nullptr, false);
    if (!message.is_object())
      return;
    const std::lock_guard lock(mutex_);
    requests_.push_back({message.value(protocol::kId, std::uint64_t(0)),
                         message.value(protocol::kMethod, std::string()),
                         message.value(protocol::kParams, json::object())});
    changed_.notify_all();
  }

  void beat() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, protocol::kAliveEvery, [this] { return ended_.load(); })) {
      lock.unlock();
      write({{protocol::kAlive, true}});
      lock.lock();
    }
  }

  int out_;
  std::atomic<bool> &ended_;
  std::mutex mutex_, writing_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  std::thread reader_, alive_;
};

/// The judges that a worker was asked to open.
class WorkerServer {
public:
  WorkerServer(LocalExecutor &executor, const Services &services, fs::path folder,
               const fs::path &scratch)
      : executor_(executor), folder_(std::move(folder)), keep_(cacheFolder() / "sent", kKeptBytes),
        programs_(services, scratch / "program", keep_) {}

  Result<json> answer(const Request &request) {
    const bool isOfPrograms = request.params.contains(protocol::kAbout);
    const json &params = isOfPrograms ? request.params[protocol::kAbout] : request.params;
    if (request.method == protocol::kMissing) {
      KOPT_TRY(const auto digests, read<std::vector<std::string>>(params, "digests"));
      return toJson(keep_.missing(digests));
    }
    if (request.method == protocol::kGet) {
      KOPT_TRY(const std::string piece,
               keep_.part(params.value("digest", std::string()),
                          params.value("at", std::uint64_t(0)), protocol::kPiece));
      return toJson(piece);
    }
    if (isOfPrograms)
      return programs_.answer(request.method, request.params);
    if (request.method == protocol::kPut) {
      KOPT_TRY(const auto part, fromJson<FilePart>(params));
      KOPT_CHECK(keep_.put(part.digest, part.at, part.size, part.bytes));
      return json::object();
    }
    if (request.method == protocol::kRates) {
      KOPT_TRY(const MeasuredRates rates, executor_.measureRates());
      return toJson(rates);
    }
    if (request.method == protocol::kVersions)
      return compareVersions(params);
    const std::string id = params.value("judge", std::string());
    if (request.method == protocol::kOpen)
      return open(id, params);
    const auto found = judges_.find(id);
    if (found == judges_.end())
      return makeError(ErrorCode::Internal, "there is no judge " + id);
    if (request.method == protocol::kClose) {
      std::error_code ignored;
      const fs::path files = found->second.paths.root();
      judges_.erase(found);
      fs::remove_all(files, ignored);
      return json::object();
    }
    return withPathsThere(found->second.paths, ask(found->second, request.method, params));
  }

private:
  /// Of a confirmation, by what its request said; unset: none.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  struct Opened {
    PathMap paths;
    std::shared_ptr<Deadline> deadline;
    std::unique_ptr<Judge> judge;
  };

  template <class Record> static Result<Record> read(const json &params, const char *member) {
    return fromJson<Record>(params.value(member, json()));
  }

  static Result<json> withPathsThere(const PathMap &paths, Result<json> answer) {
    const MapText there = [&](const std::string &text) { return paths.there(text); };
    if (!answer)
      return tl::unexpected(mapped(answer.error(), there));
    return mapped(std::move(*answer), there);
  }

  /// Puts the files of a task where compilations read them.
  Result<PathMap> place(const std::vector<WorkerFile> &files) {
    PathMap paths(folder_ / fmt::format("files-{}", opened_++), files);
    for (const WorkerFile &file : files)
      KOPT_CHECK(keep_.place(file.digest, paths.here(file.path)));
    return paths;
  }

  Result<json> compareVersions(const json &params) {
    KOPT_TRY(const auto task, fromJson<VersionsTask>(params));
    KOPT_TRY(const PathMap paths, place(task.base.files));
    const auto subjectOf = [&](const JudgeTask &version, const std::string &label) {
      return TuneSubject{placed(version, paths), version.declaration.value_or(TuneDeclaration()),
                         label};
    };
    const TuneSubject base = subjectOf(task.base, task.baseLabel),
                      head = subjectOf(task.head, task.headLabel);
    for (const TuneSubject *version : {&base, &head})
      KOPT_CHECK(createDirectories(version->kernel.directory));
    if (!versions_)
      versions_.emplace(BenchServices{executor_.frontend(), &executor_.runner(),
                                      &executor_.compiler(), nullptr, executor_.device(),
                                      folder_.parent_path(), [](const std::string &) {}},
                        task.base.options);
    GateKernel kernel = task.kernel;
    const auto compared = versions_->compare(base, head, task.sameLaunches, kernel).map([&] {
      return toJson(kernel);
    });
    std::error_code ignored;
    fs::remove_all(paths.root(), ignored);
    return withPathsThere(paths, compared);
  }

  Result<json> open(const std::string &id, const json &params) {
    KOPT_TRY(const auto task, read<JudgeTask>(params, "task"));
    KOPT_TRY(PathMap paths, place(task.files));
    KOPT_CHECK(createDirectories(paths.here(task.kernel.directory)));
    auto deadline = std::make_shared<Deadline>();
    const auto secondsLeft = [deadline] {
      return *deadline ? Duration(**deadline - std::chrono::steady_clock::now()).count()
                       : std::numeric_limits<double>::infinity();
    };
    KOPT_TRY(auto judge, executor_.makeJudge(placed(task, paths), task.options,
                                             fmt::format("judge-{}", opened_), secondsLeft, false));
    judges_.insert_or_assign(id, Opened{std::move(paths), std::move(deadline), std::move(judge)});
    return json::object();
  }

  static Result<json> ask(Opened &opened, const std::string &method, const json &params) {
    Judge &judge = *opened.judge;
    if (method == protocol::kBaseline) {
      KOPT_TRY(Baseline baseline, judge.baseline());
      return toJson(BaselineReply{std::move(baseline.trial), std::move(baseline.workload)});
    }
    if (method == protocol::kJudge) {
      KOPT_TRY(const auto request, read<JudgeRequest>(params, "request"));
      opened.deadline->reset();
      if (request.secondsLeft)
        *opened.deadline = std::chrono::steady_clock::now() +
                           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               Duration(*request.secondsLeft));
      KOPT_TRY(const Trial trial, judge.judge(request.candidate, request.purpose, request.upTo));
      return toJson(trial);
    }
    if (method == protocol::kCompare) {
      KOPT_TRY(const auto request, read<CompareRequest>(params, "request"));
      KOPT_TRY(const auto speedup, judge.compare(request.candidate, request.other));
      return toJson(speedup);
    }
    if (method == protocol::kCounters) {
      KOPT_TRY(Trial trial, read<Trial>(params, "trial"));
      KOPT_CHECK(judge.addCounters(trial));
      return toJson(trial);
    }
    if (method == protocol::kRemember) {
      KOPT_TRY(const auto trials, read<std::vector<Trial>>(params, "trials"));
      for (const Trial &trial : trials)
        judge.remember(trial);
      return json::object();
    }
    return makeError(ErrorCode::Internal, "there is no method " + method);
  }

  LocalExecutor &executor_;
  fs::path folder_;
  FileKeep keep_;
  ServePrograms programs_;
  std::optional<VersionBench> versions_; ///< of `kopt ci`, with the options of its first kernel
  unsigned opened_ = 0;
  std::map<std::string, Opened> judges_;
};

/// Sends what is for the user to the other side.
class ToldTerminal final : public Terminal {
public:
  explicit ToldTerminal(Streams &streams) : streams_(streams) {}
  void status(std::string_view) override {}
  void line(std::string_view text) override { streams_.write({{protocol::kTell, text}}); }
  void clear() override {}
  std::string paint(Style, std::string_view text) const override { return std::string(text); }

private:
  Streams &streams_;
};

std::string hostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

} // namespace

Status serveWorker(const Services &caller, const WorkerSettings &settings, int in, int out) {
  std::atomic<bool> ended = false; // interrupts what is under way
  Streams streams(in, out, caller.interrupted, ended);
  ToldTerminal terminal(streams);
  Services services{caller.processes, caller.clock, terminal, caller.installation, &ended};
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-worker"));
  const fs::path files = scratch.path() / "files";
  KOPT_CHECK(createDirectories(files));
  KOPT_TRY(const Contained contained, openContained(services, settings.sandbox, {files}));
  KOPT_TRY(const auto executor,
           LocalExecutor::open(services, settings.device, {settings.gpu}, scratch.path(), contained,
                               settings.buildCache));
  const WorkerHello hello{koptVersion(),         hostName(),
                          executor->gpus()[0],   executor->device(),
                          executor->toolchain(), executor->layers()};
  streams.write({{protocol::kHello, toJson(hello)}});
  WorkerServer server(*executor, services, files, scratch.path());
  while (const std::optional<Request> request = streams.next()) {
    const Result<json> answer = server.answer(*request);
    const bool isLost = !executor->runner().lost().empty();
    if (answer)
      streams.write({{protocol::kId, request->id}, {protocol::kResult, *answer}});
    else
      streams.write({{protocol::kId, request->id},
                     {protocol::kError, toJson(WorkerError::of(answer.error()))},
                     {protocol::kLost, isLost}});
    if (isLost)
      break;
  }
  return {};
}

} // namespace kopt
