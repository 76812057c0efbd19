// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/ServePrograms.h"

#include "driver/device/worker/Protocol.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;
namespace protocol = worker_protocol;
using nlohmann::json;

Result<ProcessResult> ServePrograms::StoppedProcesses::run(const ProcessSpec &spec) {
  ProcessSpec own = spec;
  own.stop = stop_;
  return inner_.run(own);
}

Result<json> ServePrograms::answer(const std::string &method, const json &params) {
  const std::string folder = params.value(protocol::kDirectory, std::string());
  std::error_code error;
  fs::current_path(folder, error);
  if (error)
    return makeError(ErrorCode::Environment, fmt::format("there is no folder {}", folder),
                     "name the project's folder there with --executor-folder");
  const json about = params.value(protocol::kAbout, json());
  if (method == protocol::kSnapshotBytes) {
    KOPT_TRY(const auto limits, fromJson<TraceSettings>(about));
    KOPT_TRY(const std::uint64_t bytes, programs_.snapshotBytes(limits, scratch_));
    return json(bytes);
  }
  if (method == protocol::kIdentity) {
    KOPT_TRY(const auto command, fromJson<std::vector<std::string>>(about));
    KOPT_TRY(const std::string identity, programs_.identityOf(command));
    return toJson(identity);
  }
  if (method == protocol::kObserve) {
    KOPT_TRY(const auto request, fromJson<ObserveRequest>(about));
    return observe(request);
  }
  if (method == protocol::kBuildWay) {
    KOPT_TRY(auto request, fromJson<BuildWayRequest>(about));
    KOPT_TRY(const BuildWay way, programs_.findBuildWay(std::move(request)));
    return toJson(way);
  }
  if (method == protocol::kPrograms) {
    pair_.reset();
    const fs::path scratch = scratch_ / "programs";
    fs::remove_all(scratch, error);
    KOPT_TRY(auto request, fromJson<ProgramRequest>(about));
    KOPT_TRY(pair_, programs_.open(std::move(request), scratch, {}));
    return toJson(pair_->describe());
  }
  if (!pair_)
    return makeError(ErrorCode::Internal, "no programs are open");
  if (method == protocol::kBuild) {
    KOPT_TRY(const auto request, fromJson<ProgramsToBuild>(about));
    return build(request);
  }
  KOPT_TRY(const auto request, fromJson<RunRequest>(about));
  if (method == protocol::kTest) {
    KOPT_TRY(const auto failure, pair_->test(request.side));
    return toJson(failure);
  }
  KOPT_TRY(const auto samples, pair_->run(request.side, request.index));
  return toJson(samples);
}

Result<json> ServePrograms::observe(const ObserveRequest &request) {
  const fs::path folder = scratch_ / "trace";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  ObserveReply reply;
  KOPT_TRY(const ObservedTrace trace,
           programs_.observe(request.command, request.orders, request.limits, folder, reply.run));
  for (const auto &entry : fs::recursive_directory_iterator(trace.folder, ignored))
    if (entry.is_regular_file()) {
      KOPT_TRY(const std::string digest, keep_.adopt(entry.path()));
      reply.files.push_back(
          {entry.path().lexically_relative(trace.folder).string(), digest, entry.file_size()});
    }
  fs::remove_all(folder, ignored);
  return toJson(reply);
}

Result<json> ServePrograms::build(const ProgramsToBuild &request) {
  std::vector<Status> built;
  if (request.old && request.fresh) {
    const ProgramPair::Built both = pair_->buildBoth(request.edits.at(0));
    built = {both.old, both.fresh};
  } else if (request.old) {
    built = {pair_->buildOld(request.edits.at(0))};
  } else {
    built = pair_->buildNew(request.edits);
  }
  std::vector<std::optional<WorkerError>> problems;
  for (const Status &one : built)
    problems.push_back(one ? std::nullopt : std::optional(WorkerError::of(one.error())));
  return toJson(problems);
}

} // namespace kopt
