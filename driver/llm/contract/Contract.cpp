// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/contract/Contract.h"
#include "driver/llm/Schema.h"
#include "driver/llm/contract/ReplyText.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"
#include "knowledge/CandidateFiles.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <regex>

namespace kopt {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPlans = 8;
constexpr std::size_t kNameLimit = 40, kLineLimit = 120, kTextLimit = 2000,
                      kLimitOfChunk = 256u << 10;

std::string oneLine(std::string text, std::size_t limit) {
  text = std::string(trim(withoutControls(std::move(text))));
  if (text.size() <= limit)
    return text;
  text.resize(limit);
  while (!text.empty() && (text.back() & 0x80)) // a character that may have been cut in two
    text.pop_back();
  return text;
}

/// Collects the candidates of one reply. A breach ends its candidate alone.
class ReplyReader {
public:
  explicit ReplyReader(const CodeContract &contract) : contract_(contract) {}

  void read(std::string_view reply) {
    std::vector<ReplyBlock> blocks = blocksIn(reply);
    std::vector<const ReplyBlock *> code;
    std::string last; // id of the candidate of the last header, if that had one
    for (ReplyBlock &block : blocks) {
      const std::size_t before = drafts_.size();
      const bool isLabelled = contract_.chunks.contains(block.chunk) || !block.candidate.empty() ||
                              (!block.chunk.empty() && block.chunk != block.info);
      if (isLabelled && block.candidate.empty())
        block.candidate = last;
      if (isLabelled)
        code.push_back(&block);
      else if (readHeader(block.text))
        last = drafts_.size() == before + 1 ? drafts_.back().out.id : "";
      else
        note("a block without the label of a chunk is passed over");
    }
    const std::string_view prose = reply.substr(0, std::min(reply.find("```"), reply.find("~~~")));
    if (const std::size_t begin = prose.find_first_of("{["); !hasHeader_ && begin != prose.npos)
      readHeader(prose.substr(begin, prose.find_last_of("]}") + 1 - begin)); // without fences
    for (const ReplyBlock *block : code)
      readBlock(*block);
  }

  /// `at` is the JSON pointer to it.
  void readCandidate(const json &value, const std::string &at) {
    const auto id = value.find("id");
    std::string name = id != value.end() && id->is_number()
                           ? id->dump()
                           : oneLine(textIn(value, "id"), kNameLimit);
    const bool isNamed = !name.empty();
    if (!isNamed)
      name = std::to_string(drafts_.size() + unread_.size() + 1);
    if (drafts_.size() == kMostCandidates) {
      note(fmt::format("candidate {} is not read: a reply has at most {}", name, kMostCandidates));
      unread_.insert(std::move(name));
      return;
    }
    Draft &draft = drafts_.emplace_back(Draft{at, isNamed});
    draft.out.id = std::move(name);
    for (Draft &other : drafts_)
      if (&other != &draft && other.out.id == draft.out.id)
        for (Draft *one : {&other, &draft})
          breach(one, one->at + "/id", "two candidates have this id");
    for (const SchemaBreach &wrong : schemaBreaches(value, candidateSchema()))
      if (!wrong.pointer.starts_with("/expects")) // read below: no reason to refuse a candidate
        breach(&draft, at + wrong.pointer, wrong.what);
    if (!draft.isBroken)
      readMembers(value, draft);
  }

  CodeReply take() {
    for (Draft &draft : drafts_) {
      const ReplyCandidate &out = draft.out;
      const bool changes =
          !out.chunks.empty() || !out.constants.empty() || out.block || out.grid || out.sharedBytes;
      if (!draft.isBroken && hasStray_ && out.chunks.empty())
        breach(&draft, draft.at, "it has no block, and a block names no candidate that there is");
      else if (!draft.isBroken && !changes && reply_.stop.empty())
        breach(&draft, draft.at,
               "it changes nothing: no chunk, no constant, no launch; " + labels());
      if (!draft.isBroken && changes)
        reply_.candidates.push_back(std::move(draft.out));
    }
    if (reply_.candidates.empty() && reply_.breaches.empty() && reply_.plan.empty() &&
        reply_.stop.empty())
      breach(nullptr, "/",
             "the reply has no JSON header in a fenced block that names a candidate or the reason "
             "to stop");
    return std::move(reply_);
  }

private:
  struct Draft {
    std::string at; ///< JSON pointer to it
    bool isNamed;   ///< by the model
    ReplyCandidate out{};
    bool isBroken = false;
  };

  /// False where the text is none.
  bool readHeader(std::string_view text) {
    const std::string strict(trim(strictJson(validUtf8(std::string(text)))));
    const std::size_t first = std::min(strict.find_first_not_of("{[ \t\r\n"), strict.size());
    if (first == 0 || strict.substr(first, 1) != "\"")
      return false;
    json header, complete = json::array();
    std::string member;
    const auto keep = [&](int depth, json::parse_event_t event, json &parsed) {
      if (event == json::parse_event_t::key && depth == 1)
        member = parsed.get<std::string>();
      if (event == json::parse_event_t::object_end && depth == 2 && member == "candidates")
        complete.push_back(parsed);
      return true;
    };
    try {
      header = json::parse(strict, keep);
    } catch (const json::exception &error) {
      breach(nullptr, "the JSON header",
             fmt::format("it is not JSON: {}; candidates before that are read", error.what()));
      header = {{"candidates", std::move(complete)}};
      unread_.insert(""); // blocks that name no candidate may be those of one that was not read
    }
    if (header.is_array())
      header = {{"candidates", std::move(header)}};
    if (noteUnknown(header, "the header") == header.size())
      return false; // a quotation
    hasHeader_ = true;
    if (reply_.stop.empty())
      reply_.stop = oneLine(textIn(header, "stop"), kTextLimit);
    const json plan = header.value("plan", json::array());
    for (const json &direction : plan.is_array() ? plan : json::array({plan}))
      if (direction.is_string() && reply_.plan.size() < kMostPlans)
        reply_.plan.push_back(oneLine(direction.get<std::string>(), kTextLimit));
    const auto list = header.find("candidates");
    if (list != header.end() && !list->is_array())
      breach(nullptr, "/candidates", "a list is expected");
    else if (list != header.end())
      for (std::size_t i = 0; i < list->size(); ++i)
        readCandidate((*list)[i], fmt::format("/candidates/{}", i));
    else if (header.contains("title") ||
             (reply_.stop.empty() && header.size() > header.count("plan")))
      readCandidate(header, {});
    return true;
  }

  void readMembers(const json &value, Draft &draft) {
    ReplyCandidate &out = draft.out;
    const auto member = [&](const char *name) -> const json & {
      static const json kNone = json::object();
      const auto found = value.find(name);
      return found == value.end() ? kNone : *found;
    };
    if (!hasHeader_ || !draft.at.empty())
      noteUnknown(value, "candidate " + out.id);
    out.title = oneLine(textIn(value, "title"), kLineLimit);
    out.technique = slug(textIn(value, "technique"), kNameLimit);
    out.rationale = oneLine(textIn(value, "rationale"), kTextLimit);
    if (out.title.empty())
      breach(&draft, draft.at + "/title", "a text is expected");
    for (const json &expected : member("expects"))
      if (const auto factor = expected.find("factor"); factor != expected.end() &&
                                                       factor->is_number() && *factor > 0 &&
                                                       !textIn(expected, "metric").empty())
        out.expects.push_back({oneLine(textIn(expected, "metric"), kLineLimit), *factor});
      else
        note(fmt::format("an entry in \"expects\" of candidate {} is passed over", out.id));
    readLaunch(member("launch"), draft);
    readTunables(member("tunables"), draft);
    for (const auto &[name, constant] : member("constants").items())
      if (contract_.constants.contains(name))
        out.constants[name] = constant.get<std::int64_t>();
      else
        breach(&draft, draft.at + "/constants/" + name,
               fmt::format("it is not a constant that can be changed; these are: {}",
                           fmt::join(contract_.constants, ", ")));
    for (const auto &[label, text] : member("chunks").items())
      takeChunk(label, text.get<std::string>(), draft.at + "/chunks/" + label, draft);
  }

  void readLaunch(const json &launch, Draft &draft) {
    const auto expression = [&](const json &value) {
      std::string text = value.is_string() ? oneLine(value.get<std::string>(), kTextLimit)
                                           : std::to_string(value.get<std::int64_t>());
      if (text.empty())
        breach(&draft, draft.at + "/launch", "an expression is empty");
      return text;
    };
    const auto extents = [&](const json &value) {
      std::array<std::string, 3> read{expression(value.is_array() ? value[0] : value), "1", "1"};
      for (std::size_t i = 1; i < value.size(); ++i)
        read[i] = expression(value[i]);
      return read;
    };
    const std::string grid = textIn(launch, "grid");
    draft.out.coverGrid = grid == "cover";
    if (launch.contains("block"))
      draft.out.block = extents(launch["block"]);
    if (launch.contains("grid") && grid != "cover" && grid != "keep")
      draft.out.grid = extents(launch["grid"]);
    if (launch.contains("shared_bytes"))
      draft.out.sharedBytes = expression(launch["shared_bytes"]);
    const auto isNumber = [](const std::string &text) {
      return text.find_first_not_of("0123456789") == text.npos;
    };
    if (grid == "cover" && !(draft.out.block && std::ranges::all_of(*draft.out.block, isNumber)))
      breach(&draft, draft.at + "/launch/grid",
             "it is \"cover\" without numbers in \"block\"; give expressions");
  }

  void readTunables(const json &tunables, Draft &draft) {
    static const std::regex kName("[A-Za-z_]\\w{0,99}");
    for (const auto &[key, entry] : tunables.items()) {
      const std::string at = draft.at + "/tunables/" + key;
      const bool isShort = tunables.is_object(); // {NAME: [values]}
      ReplyTunable tunable{.name = isShort ? key : textIn(entry, "name")};
      for (const json &value : isShort ? entry : entry["values"])
        if (std::ranges::count(tunable.values, value.get<std::int64_t>()) == 0)
          tunable.values.push_back(value.get<std::int64_t>());
      tunable.value = tunable.values.front();
      if (!isShort) {
        tunable.value = entry.value("value", tunable.value);
        const json requirements = entry.value("requires", json::array());
        for (const json &one : requirements.is_array() ? requirements : json::array({requirements}))
          tunable.requirements.push_back(one.get<std::string>());
      }
      if (!std::regex_match(tunable.name, kName))
        breach(&draft, at, "its name is no name in C");
      if (std::ranges::count(tunable.values, tunable.value) == 0)
        breach(&draft, at + "/value", "it is not one of its values");
      draft.out.tunables.push_back(std::move(tunable));
    }
  }

  void readBlock(const ReplyBlock &block) {
    const bool isOnly = drafts_.size() == 1 && unread_.empty();
    auto draft = std::ranges::find_if(
        drafts_, [&](const Draft &one) { return one.out.id == block.candidate; });
    if (isOnly && (block.candidate.empty() || !drafts_[0].isNamed))
      draft = drafts_.begin();
    const std::string where = oneLine(block.info, kLineLimit);
    if (draft == drafts_.end()) {
      if (drafts_.empty() || unread_.contains(block.candidate))
        return;
      hasStray_ = true;
      breach(nullptr, where,
             "it names no candidate that there is; label it: cuda candidate=ID chunk=LABEL");
    } else if (!block.isClosed) {
      breach(&*draft, where, "it is not closed: the reply ends in it, or its fence is missing");
    } else {
      takeChunk(block.chunk, block.text, where, *draft);
    }
  }

  void takeChunk(const std::string &label, const std::string &text, const std::string &where,
                 Draft &draft) {
    const auto original = contract_.chunks.find(label);
    const std::string chunk = "chunk \"" + oneLine(label, kLineLimit) + "\" ";
    if (original == contract_.chunks.end())
      return breach(&draft, where, chunk + "is no editable chunk; " + labels());
    if (trim(text).empty())
      return breach(&draft, where, chunk + "is empty");
    if (text.size() > kLimitOfChunk)
      return breach(&draft, where, chunk + "is longer than 256 KiB");
    if (const std::string line = findElision(text, original->second); !line.empty())
      return breach(&draft, where,
                    chunk + "leaves code out: \"" + oneLine(line, kLineLimit) +
                        "\"; write the whole text");
    if (!draft.out.chunks.emplace(label, text).second)
      breach(&draft, where, chunk + "appears twice");
  }

  /// `draft`: null for what concerns no candidate alone.
  void breach(Draft *draft, const std::string &where, std::string what) {
    if (draft)
      draft->isBroken = true;
    reply_.breaches.push_back({draft ? draft->out.id : "", where.empty() ? "/" : where,
                               oneLine(std::move(what), kTextLimit)});
  }
  void note(std::string text) { reply_.notes.push_back(oneLine(std::move(text), kTextLimit)); }

  /// Notes the members that the contract does not have: how many.
  std::size_t noteUnknown(const json &object, const std::string &whose) {
    std::size_t unknown = 0;
    for (const auto &[name, value] : object.items())
      if (!candidateSchema()["properties"].contains(name) && name != "candidates" &&
          name != "plan" && name != "stop") {
        note(fmt::format("the member \"{}\" of {} is passed over", name, whose));
        ++unknown;
      }
    return unknown;
  }

  std::string labels() const {
    return fmt::format("the labels are: chunk={}",
                       fmt::join(std::views::keys(contract_.chunks), ", chunk="));
  }

  const CodeContract &contract_;
  CodeReply reply_;
  std::vector<Draft> drafts_;
  std::set<std::string> unread_; ///< ids of candidates beyond the most that are read
  bool hasHeader_ = false;
  bool hasStray_ = false; ///< a block names no candidate that there is
};

} // namespace

CodeReply readReply(std::string_view reply, const CodeContract &contract) {
  ReplyReader reader(contract);
  reader.read(reply);
  return reader.take();
}

CodeReply readCandidate(const json &candidate, const CodeContract &contract) {
  ReplyReader reader(contract);
  reader.readCandidate(candidate, {});
  return reader.take();
}

const json &candidateSchema() {
  static const json kSchema = [] {
    json schema = json::parse(knowledge::candidate::kFiles.front().second);
    json &launch = schema["properties"]["launch"]["properties"];
    launch["block"]["maximum"] = launch["block"]["items"]["maximum"] = gpu::kMostThreads;
    launch["grid"]["maximum"] = launch["grid"]["items"]["maximum"] = gpu::kMostGrid[0];
    launch["shared_bytes"]["maximum"] = gpu::kMostShared;
    return schema;
  }();
  return kSchema;
}

} // namespace kopt
