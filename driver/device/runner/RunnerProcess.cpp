// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/RunnerProcess.h"

#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

namespace {

using runtime::protocol::Message;

constexpr Duration kStartDeadline{60}; ///< cuInit takes more than 10 s on hosts with many GPUs
constexpr Duration kLoadDeadline{30};  ///< for loading and unloading a module
constexpr Duration kTeardownLimit{
    30}; ///< a driver that tears down a context keeps the process for at most this long
constexpr std::size_t kReplyLimit =
    16u << 20; ///< bytes; a thousand times the longest reply seen so far

std::string lastLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  const auto begin = text.rfind('\n');
  return begin == text.npos ? text : text.substr(begin + 1);
}

std::string inWords(int exitCode) {
  if (exitCode <= 128)
    return fmt::format("exit code {}", exitCode);
  const char *name = ::strsignal(exitCode - 128);
  return fmt::format("signal {}, {}", exitCode - 128, name ? name : "unknown");
}

} // namespace

Result<std::unique_ptr<InteractiveProcess>> RunnerProcess::spawn() {
  ProcessSpec spec;
  spec.argv = command_;
  spec.outputLimit = kReplyLimit;
  // A PTX cache would be a file. The driver compiles nothing that is timed, so it is not needed.
  spec.env = environment_;
  spec.env["CUDA_CACHE_DISABLE"] = "1";
  return processes_.start(sandbox_.contain(std::move(spec), policy_));
}

void RunnerProcess::startAhead(unsigned processes, const Message &hello,
                               const std::vector<int> &descriptors) {
  while (ahead_.size() < processes) {
    Result<std::unique_ptr<InteractiveProcess>> started = spawn();
    if (!started)
      return;
    const std::uint64_t id = requests_();
    Message request = hello;
    request.add("id", id);
    if (!(*started)->writeLineWith(request.format(), descriptors))
      return;
    ahead_.emplace_back(std::move(*started), id);
  }
}

void RunnerProcess::awaitAhead() {
  std::erase_if(ahead_, [](Ahead &next) {
    if (!next.reply)
      if (const auto line = next.process->readLine(kStartDeadline))
        next.reply = *line;
    return !next.reply || next.process->hasEnded();
  });
}

Result<RunnerReply> RunnerProcess::start(const Message &hello,
                                         const std::vector<int> &descriptors) {
  while (!ahead_.empty()) {
    Ahead next = std::move(ahead_.front());
    ahead_.pop_front();
    process_ = std::move(next.process);
    ++generation_;
    Result<RunnerReply> reply =
        receive(next.reply ? Result<std::string>(*next.reply) : process_->readLine(kStartDeadline),
                next.id, kStartDeadline);
    if (reply && reply->status == RunStatus::Ok && process_ && !process_->hasEnded())
      return reply;
    stop();
  }
  for (const bool isLast : {false, true}) {
    KOPT_TRY(process_, spawn());
    ++generation_;
    Result<RunnerReply> reply = ask(hello, kStartDeadline, descriptors);
    if (!reply)
      return tl::unexpected(reply.error());
    if (reply->status == RunStatus::Ok && process_)
      return reply;
    const std::string why =
        reply->status == RunStatus::Ok ? "it ended right after its start" : reply->detail;
    stop();
    if (isLast)
      return makeError(ErrorCode::Environment, "kopt-runner did not start: " + why,
                       "run " + join(command_, " ") +
                           " by hand to see its error; 'kopt doctor' shows the sandbox");
    note(FaultClass::Infrastructure, "kopt-runner did not start at the first attempt: " + why);
  }
  return makeError(ErrorCode::Internal, "kopt-runner was not started");
}

bool RunnerProcess::ready() {
  if (!process_)
    return false;
  const bool unread = process_->hasUnread(), ended = process_->hasEnded();
  if (!unread && !ended)
    return true;
  note(FaultClass::Infrastructure, unread
                                       ? "the runner wrote something unrequested and was replaced"
                                       : "the runner died while it was idle and was replaced");
  mustProbe_ = true;
  stop();
  return false;
}

void RunnerProcess::stop() {
  if (process_ && !process_->end(kTeardownLimit)) {
    mustProbe_ = true;
    note(FaultClass::Infrastructure, fmt::format("the driver still holds a killed runner after {}",
                                                 formatDuration(kTeardownLimit.count())));
  }
  process_.reset();
}

RunnerReply RunnerProcess::lost(RunStatus status, FaultClass fault, std::string what) {
  mustProbe_ = true;
  stop();
  return {status, std::move(what), {}, fault};
}

/// Handles a process that died or sent an invalid reply. The cause is ambiguous: the kernel (out of
/// memory), a person or the candidate itself may have killed it.
RunnerReply RunnerProcess::crashed(const std::string &what) {
  process_->end(kTeardownLimit);
  const int code = process_->wait();
  const std::string words = lastLine(process_->errorTail());
  return lost(RunStatus::Crashed, FaultClass::Ambiguous,
              fmt::format("{} ({}{}{})", what, inWords(code), words.empty() ? "" : ": ", words));
}

Result<RunnerReply> RunnerProcess::ask(Message request, Duration deadline,
                                       const std::vector<int> &descriptors) {
  const std::uint64_t id = requests_();
  request.add("id", id);
  if (!process_->writeLineWith(request.format(), descriptors))
    return crashed("the runner ended before the request");
  return receive(process_->readLine(deadline), id, deadline);
}

Result<RunnerReply> RunnerProcess::load(const std::filesystem::path &module,
                                        const std::string &symbol, std::uint32_t &number) {
  Message request("load");
  request.add("path", module.string());
  request.add("symbol", symbol);
  KOPT_TRY(RunnerReply reply, ask(std::move(request), kLoadDeadline, {}));
  if (reply.status != RunStatus::Ok)
    return reply;
  const auto known = reply.message.number<std::uint32_t>("module");
  if (!known)
    return makeError(ErrorCode::Internal,
                     "the runner loaded a module without reporting its number");
  number = *known;
  return reply;
}

Result<RunnerReply> RunnerProcess::unload(std::uint32_t number) {
  Message request("unload");
  request.add("module", number);
  return ask(std::move(request), kLoadDeadline, {});
}

/// Interprets `line`, which came within the deadline or not at all.
Result<RunnerReply> RunnerProcess::receive(const Result<std::string> &line, std::uint64_t id,
                                           Duration deadline) {
  if (!line && line.error().code == ErrorCode::BudgetEnded)
    return lost(RunStatus::TimedOut, FaultClass::Candidate,
                fmt::format("it did not end within {}", formatDuration(deadline.count())));
  if (!line)
    return crashed("the runner ended while it ran this");
  const std::optional<Message> message = Message::parse(*line);
  if (!message || (message->verb() != "ok" && message->verb() != "error") ||
      message->number<std::uint64_t>("id") != id)
    return crashed("the runner sent an invalid reply");
  const int status = message->number<int>("status").value_or(int(RunStatus::Ok));
  if (status < 0 || status > int(kLastRunStatus))
    return crashed("the runner sent an invalid reply");

  // After a fault the context is unusable; the process ends by itself, and the next call starts
  // another one.
  const bool last = message->has("last");
  const std::string code = message->verb() == "error" ? message->text("code") : "",
                    text = message->text("text");
  if (last || code == "no-device")
    stop();
  mustProbe_ = mustProbe_ || last;
  if (code == "no-device")
    return makeError(ErrorCode::Environment, text,
                     "`kopt doctor` shows what is missing; --device emulated needs no GPU");
  // A lack of memory or a refusal may be caused by what ran before.
  if (code == "memory" || code == "environment")
    return RunnerReply{code == "memory" ? RunStatus::LaunchFailed : RunStatus::Crashed, text,
                       *message, FaultClass::Ambiguous};
  if (message->verb() == "error")
    return makeError(ErrorCode::Internal, "the runner refused a request: " + text);
  return RunnerReply{RunStatus(status), message->text("detail"), *message,
                     status == int(RunStatus::Ok) ? FaultClass::None : FaultClass::Candidate};
}

} // namespace kopt
