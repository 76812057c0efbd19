// SPDX-License-Identifier: Apache-2.0
#include "driver/device/worker/WorkerLink.h"

#include "driver/device/worker/Protocol.h"
#include "driver/model/Version.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace protocol = worker_protocol;

namespace {

/// How often more is waited for the rest of a line.
constexpr int kMostPatience = 30;

std::string lastWords(InteractiveProcess &process) {
  const std::string tail = process.errorTail();
  const std::string all{trim(tail)};
  const std::size_t error = all.rfind("kopt: error: "); // a hint may follow
  return all.substr(error != all.npos ? error : all.rfind('\n') + 1);
}

} // namespace

nlohmann::json digestsOf(const std::vector<WorkerFile> &files) {
  nlohmann::json digests = nlohmann::json::array();
  for (const WorkerFile &file : files)
    digests.push_back(file.digest);
  return {{"digests", digests}};
}

tl::unexpected<Error> WorkerLink::lost(const std::string &why) {
  isLost_ = true;
  const std::string words = lastWords(*process_);
  process_->kill();
  return makeError(
      ErrorCode::Environment,
      fmt::format("the worker on {} {}{}", name(), why, words.empty() ? "" : ": " + words),
      "'kopt doctor' with the same --executor says what is missing there");
}

Result<std::unique_ptr<WorkerLink>> WorkerLink::start(ProcessRunner &processes,
                                                      std::vector<std::string> argv,
                                                      std::string name, Tell tell,
                                                      Duration patience) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.outputLimit = protocol::kLongestMessage;
  KOPT_TRY(auto process, processes.start(spec));
  std::unique_ptr<WorkerLink> link(
      new WorkerLink(std::move(process), std::move(name), std::move(tell)));
  // What login shells print before is not kopt's.
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const Duration left = patience - (std::chrono::steady_clock::now() - start);
    KOPT_TRY(const nlohmann::json message, link->next(left));
    if (!message.contains(protocol::kHello))
      continue;
    const nlohmann::json &hello = message[protocol::kHello];
    if (const std::string other = hello.is_object() ? hello.value("version", "") : "";
        other != koptVersion())
      return link->lost(fmt::format("is kopt {}, and this is {}", other, koptVersion()));
    KOPT_TRY(link->hello_, fromJson<WorkerHello>(hello));
    return link;
  }
}

/// The next message; what the worker says to the user is passed on. Empty for a line that is not
/// one.
Result<nlohmann::json> WorkerLink::next(Duration silence) {
  Result<std::string> line = process_->readLine(silence);
  // What arrives slowly is no silence; a link that is gone is noticed by ssh.
  for (int more = 0; !line && line.error().code == ErrorCode::BudgetEnded &&
                     process_->hasUnread() && more < kMostPatience;
       ++more)
    line = process_->readLine(silence);
  if (!line)
    return lost(line.error().code == ErrorCode::BudgetEnded
                    ? fmt::format("was silent for {:.0f} s", silence.count())
                    : "ended");
  nlohmann::json message = nlohmann::json::parse(*line, nullptr, false);
  if (!message.is_object()) {
    logLine(fmt::format("{} printed: {}", name(), line->substr(0, 200)));
    return nlohmann::json::object();
  }
  if (const auto told = message.find(protocol::kTell); told != message.end() && told->is_string())
    tell_(name() + ": " + told->get<std::string>());
  return message;
}

Result<nlohmann::json> WorkerLink::answer() {
  for (;;) {
    KOPT_TRY(nlohmann::json message, next(protocol::kSilence));
    if (message.value(protocol::kId, std::uint64_t(0)) != asked_)
      continue;
    if (message.contains(protocol::kResult))
      return std::move(message[protocol::kResult]);
    KOPT_TRY(const auto error, fromJson<WorkerError>(message[protocol::kError]));
    // Its device is gone, and with it the worker.
    isLost_ = message.value(protocol::kLost, false);
    return tl::unexpected(error.error());
  }
}

Result<nlohmann::json> WorkerLink::ask(const std::string &method, nlohmann::json params) {
  if (isLost_)
    return lost("is no longer there");
  const nlohmann::json request = {{protocol::kId, ++asked_},
                                  {protocol::kMethod, method},
                                  {protocol::kParams, std::move(params)}};
  if (!process_->writeLine(dumpJson(request)))
    return lost("ended");
  return answer();
}

Status WorkerLink::give(const std::vector<WorkerFile> &files) {
  KOPT_TRY(const auto missing,
           askFor<std::vector<std::string>>(protocol::kMissing, digestsOf(files)));
  for (const WorkerFile &file : files) {
    if (std::ranges::find(missing, file.digest) == missing.end())
      continue;
    KOPT_TRY(const std::string content, readFile(file.path));
    if (hashHex(content) != file.digest)
      return makeError(ErrorCode::StaleInput, "the file changed while kopt used it",
                       "run the command again", file.path);
    for (std::size_t at = 0; at < content.size() || at == 0; at += protocol::kPiece) {
      const FilePart part{file.digest, at, content.size(), content.substr(at, protocol::kPiece)};
      KOPT_CHECK(ask(protocol::kPut, toJson(part)));
    }
  }
  return {};
}

} // namespace kopt
