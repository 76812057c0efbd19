// SPDX-License-Identifier: Apache-2.0
// Any command as a model: prompt in, reply out. It is the user's own command, given on the command
// line, and it may well be a client that needs a key: it inherits the whole environment, unlike
// every other child of kopt.
#include "driver/llm/Models.h"
#include "driver/llm/PlainText.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace {

class ExecModel final : public ChatModel {
public:
  ExecModel(std::string command, ProcessRunner &processes, Clock &clock)
      : command_(std::move(command)), processes_(processes), clock_(clock) {}

  std::string name() const override { return "exec:" + command_; }

  Result<ChatReply> complete(const ChatRequest &request) override {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", command_};
    spec.env = {{"KOPT_PURPOSE", request.purpose},
                {"KOPT_CALL", std::to_string(request.call)},
                {"KOPT_KEY", request.key}};
    spec.input = conversationText(request);
    spec.timeout = request.timeout;
    auto begin = clock_.now();
    KOPT_TRY(ProcessResult result, processes_.run(spec));
    if (result.timedOut)
      return failed(
          fmt::format("did not answer within {}", formatDuration(request.timeout.count())), result);
    if (result.exitCode != 0)
      return failed(fmt::format("ended with exit code {}", result.exitCode), result);
    if (result.truncated)
      return failed("wrote more than kopt keeps of a reply", result);
    if (trim(result.out).empty())
      return failed("wrote nothing", result);
    ChatReply reply = replyOf(std::move(result.out), request);
    reply.model = name();
    reply.seconds = Duration(clock_.now() - begin).count();
    return reply;
  }

private:
  tl::unexpected<Error> failed(const std::string &what, const ProcessResult &result) const {
    std::string_view words = trim(result.err);
    if (words.size() > 1000)
      words.remove_prefix(words.size() - 1000);
    return makeError(ErrorCode::Environment, fmt::format("the model command {}", what),
                     words.empty() ? "it wrote nothing to standard error"
                                   : fmt::format("it wrote: {}", words),
                     command_);
  }

  std::string command_;
  ProcessRunner &processes_;
  Clock &clock_;
};

} // namespace

std::unique_ptr<ChatModel> makeExecModel(std::string command, ProcessRunner &processes,
                                         Clock &clock) {
  return std::make_unique<ExecModel>(std::move(command), processes, clock);
}

} // namespace kopt
