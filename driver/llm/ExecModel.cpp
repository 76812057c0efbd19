// SPDX-License-Identifier: Apache-2.0
// Any command as a model: prompt in, reply out, or an agent that works in a folder with both as
// files. It is the user's own command, given on the command line, and it may well be a client that
// needs a key: it inherits the whole environment, unlike every other child of kopt.
#include "driver/llm/Models.h"
#include "driver/llm/PlainText.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace {

const char *const kHowAnAgentAnswers =
    "\n\n==== how this is answered ====\n\n"
    "Write your reply, in the agreed form, into the file REPLY.md of the present folder, which is "
    "yours for the whole run: keep notes in it. A reply that uses the tools described above is "
    "answered in the next REQUEST.md, which has the whole conversation.\n";

class ExecModel final : public ChatModel {
public:
  ExecModel(std::string command, ProcessRunner &processes, Clock &clock,
            std::optional<TemporaryDirectory> folder)
      : command_(std::move(command)), processes_(processes), clock_(clock),
        folder_(std::move(folder)) {}

  std::string name() const override { return (folder_ ? "agent:" : "exec:") + command_; }

  Result<ChatReply> complete(const ChatRequest &request) override {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", command_};
    spec.env = {{"KOPT_PURPOSE", request.purpose},
                {"KOPT_CALL", std::to_string(request.call)},
                {"KOPT_KEY", request.key}};
    spec.input = conversationText(request);
    if (folder_)
      KOPT_CHECK(askInFolder(spec));
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
    if (folder_ && isThere(replyFile())) {
      KOPT_TRY(result.out, readFile(replyFile()));
    }
    if (trim(result.out).empty())
      return failed("wrote nothing", result);
    ChatReply reply = replyOf(validUtf8(result.out), request);
    reply.model = name();
    reply.seconds = Duration(clock_.now() - begin).count();
    return reply;
  }

private:
  std::filesystem::path replyFile() const { return folder_->path() / "REPLY.md"; }

  Status askInFolder(ProcessSpec &spec) const {
    spec.cwd = folder_->path();
    spec.input += kHowAnAgentAnswers;
    std::error_code ignored;
    std::filesystem::remove(replyFile(), ignored);
    return writeFileAtomically(folder_->path() / "REQUEST.md", spec.input);
  }

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
  std::optional<TemporaryDirectory> folder_; ///< of an agent
};

} // namespace

std::unique_ptr<ChatModel> makeExecModel(std::string command, ProcessRunner &processes,
                                         Clock &clock) {
  return std::make_unique<ExecModel>(std::move(command), processes, clock, std::nullopt);
}

Result<std::unique_ptr<ChatModel>> makeAgentModel(std::string command, ProcessRunner &processes,
                                                  Clock &clock) {
  KOPT_TRY(TemporaryDirectory folder, TemporaryDirectory::create("kopt-agent-"));
  return std::make_unique<ExecModel>(std::move(command), processes, clock, std::move(folder));
}

} // namespace kopt
