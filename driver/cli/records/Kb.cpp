// SPDX-License-Identifier: Apache-2.0
#include "driver/app/KnowledgeFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/records/KbExperience.h"
#include "driver/support/Text.h"

namespace kopt {
namespace {

using nlohmann::json;

class KbCommand final : public Command {
public:
  explicit KbCommand(CLI::App &app) : app_(app) {
    app.require_subcommand(1);
    CLI::App *search = app.add_subcommand("search", "the passages that fit these words best");
    search->add_option("words", words_, "as many as you like")->required();
    search->add_option("-n,--number", number_, "how many passages (default 5)")
        ->check(CLI::PositiveNumber);
    CLI::App *index = app.add_subcommand("index", "read the texts and sources below a folder");
    index->add_option("folder", folder_, "the folder")->required();
    index->add_option("--source", source_, "name of the source (default: the folder's name)");
    index->add_option("--weight", weight_,
                      "its passages' scores are multiplied by this; kopt's own have 1 (default 1)");
    CLI::App *forget = app.add_subcommand("forget", "remove what was read of a source");
    forget->add_option("source", source_, "its name")->required();
    CLI::App *show = app.add_subcommand(
        "show", "the sources of texts, and which of kopt's states, rules and skills nothing "
                "recorded on a GPU has reached");
    for (CLI::App *each : {search, index, forget, show})
      each->fallthrough();
    experience_.addTo(app);
  }

  Result<Answer> run(Invocation &call) override {
    const std::string chosen = app_.get_subcommands().front()->get_name();
    if (experience_.isChosen())
      return experience_.run(call);
    KOPT_TRY(Passages passages, openPassages());
    return chosen == "search"   ? search(passages, call)
           : chosen == "index"  ? index(passages, call)
           : chosen == "forget" ? forget(passages, call)
                                : show(passages, call);
  }

private:
  Result<Answer> search(Passages &passages, const Invocation &call) const {
    KOPT_TRY(const std::vector<Passage> found,
             passages.search(join(words_, " "), std::size_t(number_)));
    Answer answer;
    for (const Passage &passage : found) {
      answer.results.push_back(toJson(passage));
      call.print("{}  {}:{}:{}\n{}\n\n", call.out.paint(Style::Bold, passage.heading),
                 passage.source, passage.file, passage.line, trim(passage.text));
    }
    if (found.empty())
      call.print("no passage has any of these words\n");
    return answer;
  }

  Result<Answer> index(Passages &passages, const Invocation &call) const {
    const std::string name =
        source_.empty() ? std::filesystem::absolute(folder_).lexically_normal().filename().string()
                        : source_;
    KOPT_TRY(const Indexed indexed, passages.index(folder_, name, weight_));
    call.print("{}: {} read, {} unchanged, {} removed\n", name,
               counted(std::size_t(indexed.read), "file", "files"), indexed.unchanged,
               indexed.removed);
    for (const std::string &file : indexed.skipped)
      call.print("skipped {}: it is no text, or larger than 1 MiB\n", file);
    Answer answer;
    answer.details = {{"source", name},
                      {"read", indexed.read},
                      {"unchanged", indexed.unchanged},
                      {"removed", indexed.removed},
                      {"skipped", indexed.skipped}};
    return answer;
  }

  Result<Answer> forget(Passages &passages, const Invocation &) const {
    KOPT_CHECK(passages.forget(source_));
    return Answer();
  }

  Result<Answer> show(Passages &passages, const Invocation &call) const {
    KOPT_TRY(const std::vector<PassageSource> sources, passages.sources());
    Answer answer;
    for (const PassageSource &source : sources) {
      answer.results.push_back(toJson(source));
      call.print("{}: {} of {}, weight {}{}\n", source.name,
                 counted(std::size_t(source.passages), "passage", "passages"),
                 counted(std::size_t(source.files), "file", "files"), source.weight,
                 source.folder.empty() ? "" : ", " + source.folder);
    }
    KOPT_TRY(answer.details["unproven"], unproven(call));
    return answer;
  }

  /// The names of what nothing recorded has reached, by kind.
  static Result<json> unproven(const Invocation &call) {
    KOPT_TRY(const std::vector<Proof> proofs, proofsOfKnowledge());
    std::map<std::string, std::vector<std::string>> names;
    std::map<std::string, std::size_t> proven;
    for (const Proof &proof : proofs)
      if (!proof.isProven())
        names[proof.kind].push_back(proof.id);
      else
        ++proven[proof.kind];
    for (const auto &[kind, ids] : names)
      call.print("{}s: {} reached by recordings on a GPU, {} unproven: {}\n", kind, proven[kind],
                 ids.size(), join(ids, ", "));
    return json(names);
  }

  CLI::App &app_;
  ExperienceCommands experience_;
  std::vector<std::string> words_;
  std::string folder_, source_;
  double weight_ = 1;
  int number_ = 5;
};

} // namespace

std::unique_ptr<Command> makeKb(CLI::App &app) { return std::make_unique<KbCommand>(app); }

} // namespace kopt
