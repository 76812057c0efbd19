// SPDX-License-Identifier: Apache-2.0
// A folder as a model, for machines without a network: requests are left in it, and replies that
// somebody put there are taken when the run is resumed.
#include "driver/llm/Models.h"
#include "driver/llm/PlainText.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace {

const char *const kHowItIsAnswered =
    "\n\n==== how this is answered ====\n\n"
    "Your reply is one text. It is read when the run is resumed, which may be hours from now.\n";

class FolderModel final : public ChatModel {
public:
  explicit FolderModel(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string name() const override { return "folder:" + folder_.string(); }

  bool repliesLater() const override { return true; }

  Result<ChatReply> complete(const ChatRequest &request) override {
    const std::string text = conversationText(request) + kHowItIsAnswered;
    // With its hash: a request that has changed does not get the reply to what it was.
    const std::string stem =
        fmt::format("{}-{}", request.key.empty() ? std::to_string(request.call) : request.key,
                    hashHex(text).substr(0, 12));
    const std::filesystem::path asked = folder_ / (stem + ".request.md"),
                                answer = folder_ / (stem + ".reply.md");
    if (const auto earlier = readFile(asked); !earlier || *earlier != text)
      KOPT_CHECK(writeFileAtomically(asked, text));
    ChatReply reply;
    if (!isThere(answer)) {
      reply.isLater = true;
      reply.text = answer.string();
    } else {
      KOPT_TRY(const std::string written, readFile(answer));
      if (trim(written).empty())
        return makeError(ErrorCode::Environment, "the reply in the model's folder is empty",
                         "write the model's reply into it, or remove it", answer.string());
      reply = replyOf(validUtf8(written), request);
    }
    reply.model = name();
    return reply;
  }

private:
  std::filesystem::path folder_;
};

} // namespace

Result<std::unique_ptr<ChatModel>> makeFolderModel(const std::filesystem::path &folder) {
  KOPT_CHECK(createDirectories(folder));
  return std::make_unique<FolderModel>(folder);
}

} // namespace kopt
