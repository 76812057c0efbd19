// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/RemotePrograms.h"

#include "driver/app/executor/PlacedTask.h"
#include "driver/app/programs/LeftThere.h"
#include "driver/device/worker/Protocol.h"
#include "driver/support/FileSystem.h"

#include <cctype>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace fs = std::filesystem;
namespace protocol = worker_protocol;
using nlohmann::json;

namespace {

/// The text with one folder's path replaced, where it is that folder or below it.
std::string moved(std::string text, const std::string &from, const std::string &to) {
  const auto isName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  if (from == to)
    return text;
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    // What stands before it without a separator: nothing, or an option such as -I.
    const std::size_t separator = at == 0 ? text.npos : text.find_last_of(" \t\n'\"=:,;(", at - 1);
    const std::string_view word = std::string_view(text).substr(separator + 1, at - separator - 1);
    const bool begins = word.empty() || (word.front() == '-' && word.find('/') == word.npos);
    const bool isWhole = end == text.size() || !isName(text[end]);
    if (begins && isWhole)
      text.replace(at, from.size(), to);
    at += begins && isWhole ? to.size() : from.size();
  }
  return text;
}

/// Programs that a worker has opened. One that was started anew is brought to the same state first.
class RemotePair final : public ProgramPair {
public:
  RemotePair(RemotePrograms &programs, ProgramRequest request, TakeSeconds ran)
      : programs_(programs), ran_(std::move(ran)), open_{protocol::kPrograms, toJson(request)} {}

  Status open() {
    KOPT_TRY(const json described, programs_.ask(open_, {}, &start_));
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
    const std::string before = std::exchange(host_, start_.host);
    if (!before.empty() && before != host_)
      return makeError(
          ErrorCode::Environment,
          fmt::format("the program ran on {} before and on {} now, so its times cannot "
                      "be compared",
                      before, host_));
    KOPT_TRY(auto samples, fromJson<std::vector<ProgramSample>>(answer));
    for (const ProgramSample &sample : samples)
      if (ran_)
        ran_(sample.seconds);
    return samples;
  }

  Result<std::optional<std::string>> test(Side side) override {
    KOPT_TRY(const json answer, ask({protocol::kTest, toJson(RunRequest{side, 0})}));
    return fromJson<std::optional<std::string>>(answer);
  }

private:
  std::vector<Status> build(const ProgramsToBuild &request) {
    // Its paths are relative.
    const RemotePrograms::Message message{protocol::kBuild, toJson(request), false};
    // What the worker need not do again: a build that this one replaces.
    if (request.old)
      old_.reset();
    new_.reset();
    const auto problems = ask(message).and_then([](const json &answer) {
      return fromJson<std::vector<std::optional<WorkerError>>>(answer);
    });
    (request.old ? old_ : new_) = message;
    const std::size_t builds = request.old && request.fresh ? 2 : request.edits.size();
    if (!problems || problems->size() != builds)
      return std::vector<Status>(builds, tl::unexpected(problems ? Error() : problems.error()));
    std::vector<Status> built;
    for (const auto &problem : *problems)
      built.push_back(problem ? Status(tl::unexpected(problem->error())) : Status());
    return built;
  }

  Result<json> ask(const RemotePrograms::Message &message) {
    std::vector<RemotePrograms::Message> before = {open_};
    for (const auto &done : {old_, new_})
      if (done)
        before.push_back(*done);
    return programs_.ask(message, before, &start_);
  }

  RemotePrograms &programs_;
  TakeSeconds ran_;
  const RemotePrograms::Message open_;
  std::optional<RemotePrograms::Message> old_, new_; ///< the last builds
  RemotePrograms::Start start_;                      ///< of the worker that has all this
  std::string host_;                                 ///< on which the programs ran
  std::string described_;
};

} // namespace

Result<json> RemotePrograms::ask(const Message &message, const std::vector<Message> &before,
                                 Start *start) {
  const MapText there = [this](const std::string &text) {
    return moved(text, place_.here.string(), place_.there.string());
  };
  const MapText here = [this](const std::string &text) {
    return moved(text, place_.there.string(), place_.here.string());
  };
  std::error_code ignored;
  const std::string folder = there(fs::current_path(ignored).string());
  const auto askOne = [&](WorkerLink &link, const Message &one) {
    return link
        .ask(one.method, {{protocol::kDirectory, folder},
                          {protocol::kAbout, one.hasPaths ? mapped(one.about, there) : one.about}})
        .map_error([&](Error error) {
          error.what = link.name() + ": " + error.what;
          return error;
        });
  };
  const auto answer = askFirst(workers_, [&](Worker &worker, WorkerLink &link) -> Result<json> {
    const Start now{worker.name(), worker.starts(), link.hello().host};
    if (start && now != *start)
      for (const Message &earlier : before)
        KOPT_CHECK(askOne(link, earlier));
    KOPT_TRY(json own, askOne(link, message));
    if (start)
      *start = now;
    return own;
  });
  if (!answer)
    return tl::unexpected(mapped(answer.error(), here));
  return message.method == protocol::kGet ? answer : mapped(*answer, here);
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
  if (files.empty())
    return true;
  const auto missing = askFor<std::vector<std::string>>(protocol::kMissing, digestsOf(files));
  return missing && missing->empty();
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
