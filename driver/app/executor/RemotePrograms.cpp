// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/RemotePrograms.h"

#include "driver/app/programs/LeftThere.h"
#include "driver/device/worker/Protocol.h"
#include "driver/support/FileSystem.h"

#include <cctype>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;
namespace protocol = worker_protocol;
using nlohmann::json;

namespace {

/// The text with one folder's path replaced, where it is that folder or below it.
std::string moved(std::string text, const std::string &from, const std::string &to) {
  if (from == to)
    return text;
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at)) {
    const auto isName = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
    };
    const std::size_t end = at + from.size();
    if ((end < text.size() && isName(text[end])) || (at > 0 && isName(text[at - 1]))) {
      at = end;
      continue;
    }
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

json moved(const json &message, const fs::path &from, const fs::path &to) {
  return json::parse(moved(dumpJson(message), from.string(), to.string()));
}

/// Programs that a worker has opened. One that was started anew is brought to the same state first.
class RemotePair final : public ProgramPair {
public:
  RemotePair(RemotePrograms &host, ProgramRequest request, TakeSeconds ran)
      : host_(host), ran_(std::move(ran)), open_{protocol::kPrograms, toJson(request)} {}

  Status open() {
    KOPT_TRY(const json described, host_.ask(open_, {}, &start_));
    KOPT_TRY(described_, fromJson<std::string>(described));
    return {};
  }

  std::string describe() const override { return described_; }

  Status buildOld(const ProgramEdits &edits) override { return build({true, false, {edits}})[0]; }
  std::vector<Status> buildNew(const std::vector<ProgramEdits> &edits) override {
    return build({false, true, edits});
  }
  Built buildBoth(const ProgramEdits &edits) override {
    const std::vector<Status> built = build({true, true, {edits}});
    return {built[0], built[1]};
  }

  Result<std::vector<ProgramSample>> run(Side side, std::size_t index) override {
    KOPT_TRY(const json answer, ask({protocol::kRun, toJson(RunRequest{side, index})}));
    KOPT_TRY(auto samples, fromJson<std::vector<ProgramSample>>(answer));
    for (const ProgramSample &sample : samples)
      if (ran_)
        ran_(sample.seconds);
    return samples;
  }

  Result<std::optional<std::string>> test(Side side) override {
    KOPT_TRY(const json answer, ask({protocol::kTest, toJson(RunRequest{side, 0})}));
    KOPT_TRY(auto reply, fromJson<TestReply>(answer));
    return std::move(reply.failure);
  }

private:
  std::vector<Status> build(const ProgramsToBuild &request) {
    const RemotePrograms::Message message{protocol::kBuild, toJson(request)};
    // What the worker need not do again: a build that this one replaces.
    if (request.old)
      old_.reset();
    new_.reset();
    const auto reply =
        ask(message).and_then([](const json &answer) { return fromJson<BuiltReply>(answer); });
    (request.old ? old_ : new_) = message;
    const std::size_t builds = request.old && request.fresh ? 2 : request.edits.size();
    if (!reply || reply->problems.size() != builds)
      return std::vector<Status>(builds, tl::unexpected(reply ? Error() : reply.error()));
    std::vector<Status> built;
    for (const auto &problem : reply->problems)
      built.push_back(problem ? Status(tl::unexpected(problem->error())) : Status());
    return built;
  }

  Result<json> ask(const RemotePrograms::Message &message) {
    std::vector<RemotePrograms::Message> before = {open_};
    for (const auto &done : {old_, new_})
      if (done)
        before.push_back(*done);
    return host_.ask(message, before, &start_);
  }

  RemotePrograms &host_;
  TakeSeconds ran_;
  const RemotePrograms::Message open_;
  std::optional<RemotePrograms::Message> old_, new_; ///< the last builds
  std::string start_;                                ///< of the worker that has all this
  std::string described_;
};

} // namespace

Result<json> RemotePrograms::ask(const Message &message, const std::vector<Message> &before,
                                 std::string *start) {
  std::error_code ignored;
  const auto paramsOf = [&](const Message &one) {
    return moved(
        {{protocol::kDirectory, fs::current_path(ignored).string()}, {protocol::kAbout, one.about}},
        place_.here, place_.there);
  };
  Result<json> answer = makeError(ErrorCode::Environment, "no worker is left");
  for (Worker *worker : workers_) {
    if (worker->isGone())
      continue;
    worker->thread().runAndWait([&] {
      for (;;) {
        const auto link = worker->link();
        if (!link) {
          answer = tl::unexpected(link.error());
          return;
        }
        const std::string now = fmt::format("{} {}", worker->name(), worker->starts());
        answer = json();
        if (start && now != *start)
          for (const Message &earlier : before)
            if (answer)
              answer = (*link)->ask(earlier.method, paramsOf(earlier));
        if (answer)
          answer = (*link)->ask(message.method, paramsOf(message));
        if ((*link)->isLost())
          continue;
        if (start && answer)
          *start = now;
        return;
      }
    });
    if (worker->isGone())
      continue;
    if (answer) // a file's bytes are no message
      return message.method == protocol::kGet ? answer : moved(*answer, place_.there, place_.here);
    Error error = answer.error();
    for (std::string *text : {&error.what, &error.hint, &error.where})
      *text = moved(*text, place_.there.string(), place_.here.string());
    error.what = worker->name() + ": " + error.what;
    return tl::unexpected(error);
  }
  return answer;
}

Status RemotePrograms::fetch(const WorkerFile &file, const fs::path &to) {
  std::string content;
  while (content.size() < file.bytes) {
    KOPT_TRY(const auto piece, askFor<std::string>(protocol::kGet, {{"digest", file.digest},
                                                                    {"at", content.size()}}));
    if (piece.empty())
      break;
    content += piece;
  }
  if (content.size() != file.bytes)
    return makeError(ErrorCode::Internal, "a file of a trace arrived incomplete", "", to.string());
  KOPT_CHECK(createDirectories(to.parent_path()));
  return writeFileAtomically(to, content);
}

Result<std::uint64_t> RemotePrograms::snapshotBytes(const TraceSettings &limits, const fs::path &) {
  return askFor<std::uint64_t>(protocol::kSnapshotBytes, toJson(limits));
}

Result<std::string> RemotePrograms::identityOf(const std::vector<std::string> &command) {
  return askFor<std::string>(protocol::kIdentity, toJson(command));
}

Result<ObservedTrace> RemotePrograms::observe(const std::vector<std::string> &command,
                                              const std::vector<SnapshotOrder> &orders,
                                              const TraceSettings &limits, const fs::path &folder,
                                              ProgramRun &run) {
  KOPT_TRY(const auto reply, askFor<ObserveReply>(protocol::kObserve,
                                                  toJson(ObserveRequest{command, orders, limits})));
  run = reply.run;
  const fs::path whole = fs::absolute(folder);
  std::vector<WorkerFile> left;
  for (const WorkerFile &file : reply.files) {
    const fs::path path = (whole / file.path).lexically_normal();
    if (path.filename() == runtime::trace::kLogFile)
      KOPT_CHECK(fetch(file, path));
    else if (path.extension() == ".kbuf") // contents: judges read them there
      left.push_back({path.string(), file.digest, file.bytes});
  }
  KOPT_CHECK(leaveThere(whole, left));
  return readTrace(whole);
}

bool RemotePrograms::holds(const fs::path &trace) {
  const std::vector<WorkerFile> files = filesLeftThere(trace);
  const auto missing = askFor<std::vector<std::string>>(protocol::kMissing, digestsOf(files));
  return files.empty() || (missing && missing->empty());
}

Result<BuildWay> RemotePrograms::findBuildWay(BuildWayRequest request) {
  return askFor<BuildWay>(protocol::kBuildWay, toJson(request));
}

Result<std::unique_ptr<ProgramPair>> RemotePrograms::open(ProgramRequest request, const fs::path &,
                                                          TakeSeconds ran) {
  auto pair = std::make_unique<RemotePair>(*this, std::move(request), std::move(ran));
  KOPT_CHECK(pair->open());
  return pair;
}

} // namespace kopt
