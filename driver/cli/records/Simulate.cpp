// SPDX-License-Identifier: Apache-2.0
#include "driver/app/simulate/SimulateFlow.h"

#include "driver/cli/Command.h"
#include "driver/report/document/Markdown.h"
#include "driver/report/html/HtmlReport.h"
#include "driver/support/FileSystem.h"

#include <limits>

namespace kopt {
namespace {

using nlohmann::json;

class SimulateCommand final : public Command {
public:
  explicit SimulateCommand(CLI::App &app) {
    app.add_option("spaces", files_, "recorded spaces: cache files of Kernel Tuner, or T4 files")
        ->required();
    app.add_option("--problem", t1_,
                   "T1 file of the spaces: the order of their values, their requirements");
    app.add_option("--repeats", settings_.repeats, "searches of each space (default 20)")
        ->check(CLI::PositiveNumber);
    app.add_option("--trials", settings_.trials,
                   "maximum number of trials (default: what the score needs, at least 200)")
        ->check(CLI::PositiveNumber);
    app.add_option("--budget-seconds", settings_.seconds,
                   "limit on the recorded time of the trials (default: none)")
        ->check(CLI::PositiveNumber);
    app.add_option("--patience", settings_.patience,
                   "rounds without a gain after which a search ends, 8 in `kopt tune` (default: "
                   "none)")
        ->check(CLI::PositiveNumber);
    app.add_option("--strategy", settings_.strategy, "what is tried next, as in `kopt tune`")
        ->check(CLI::IsMember({"auto", "navigator", "beam", "memory", "greedy"}));
    app.add_option("--searcher", searchers_,
                   "how numbers are searched: `default`, `model`, `genetic`, `local`, `random`, or "
                   "several of them")
        ->allow_extra_args(false);
    app.add_option("--open", settings_.open,
                   "candidates on their way at a time; with 1 each is chosen when all others are "
                   "known, as other tuners do (default 4, as `kopt tune` builds ahead)")
        ->check(CLI::PositiveNumber);
    app.add_option("--seed", settings_.seed, "of the first repeat (default 1)");
    app.add_option("--elsewhere", elsewhere_,
                   "a recorded space of the same kernel on another GPU or at another size, which "
                   "the searches know");
    app.add_option("--runs", runs_,
                   "what another program tried on the same spaces, to compare: {\"name\": NAME, "
                   "SPACE: [[milliseconds or null, ...], ...]}")
        ->allow_extra_args(false);
    app.add_option("--plot", plot_, "write the figures and drawings as a page, FILE.html");
    app.add_option("--write", write_, "write the (only) space to this file, and search nothing");
    app.add_option("--format", format_, "of that file: `kernel-tuner`, `t1` or `t4` (default t4)")
        ->check(CLI::IsMember({"kernel-tuner", "t1", "t4"}))
        ->needs("--write");
  }

  Result<Answer> run(Invocation &call) override {
    std::vector<SpaceToSearch> spaces;
    for (const std::string &file : files_) {
      KOPT_TRY(SpaceToSearch space, readSpaceToSearch(file, t1_));
      spaces.push_back(std::move(space));
    }
    if (!write_.empty())
      return convert(spaces, call);
    if (!elsewhere_.empty()) {
      KOPT_TRY(elsewhereSpace_, readSpaceToSearch(elsewhere_, t1_));
      settings_.elsewhere = &elsewhereSpace_->recorded;
    }
    std::vector<ComparedSearch> searches;
    for (const std::string &name : searchers_) {
      KOPT_TRY(ComparedSearch search, searchWith(name, spaces));
      searches.push_back(std::move(search));
    }
    for (const std::string &file : runs_) {
      KOPT_TRY(ComparedSearch search, readRuns(file, spaces));
      searches.push_back(std::move(search));
    }
    const Document document = documentOf(spaces, searches);
    call.print("{}", toMarkdown(document));
    if (!plot_.empty())
      KOPT_CHECK(writeFileAtomically(plot_, toHtml(document)));
    return answerOf(spaces, searches);
  }

private:
  Result<Answer> convert(const std::vector<SpaceToSearch> &spaces, const Invocation &call) const {
    if (spaces.size() != 1)
      return makeError(ErrorCode::Usage, "--write takes one space");
    const RecordFormat format = parseEnum<RecordFormat>(format_).value_or(RecordFormat::T4);
    KOPT_CHECK(
        writeFileAtomically(write_, writeRecordedSpace(spaces.front().recorded, format).dump(1)));
    call.print("{}: {} points\n", write_, spaces.front().points.size());
    return Answer();
  }

  Result<ComparedSearch> searchWith(const std::string &name,
                                    const std::vector<SpaceToSearch> &spaces) {
    const auto named = std::ranges::find(searchers(), name, &NamedSearcher::name);
    if (named == searchers().end())
      return makeError(ErrorCode::Usage, "unknown searcher '" + name + "'");
    settings_.searcher = *named;
    ComparedSearch search{name, {}};
    for (const SpaceToSearch &space : spaces) {
      KOPT_TRY(const std::vector<SimulatedSearch> runs, simulate(space, settings_));
      search.runs.emplace_back();
      for (const SimulatedSearch &run : runs)
        search.runs.back().push_back(run.times);
    }
    return search;
  }

  static Result<ComparedSearch> readRuns(const std::string &file,
                                         const std::vector<SpaceToSearch> &spaces) {
    KOPT_TRY(const std::string text, readFile(file));
    const json runs = json::parse(text, nullptr, false);
    ComparedSearch search{runs.is_object() ? runs.value("name", file) : file, {}};
    for (const SpaceToSearch &space : spaces) {
      if (!runs.is_object() || !runs.value(space.name, json()).is_array() ||
          runs[space.name].empty())
        return makeError(ErrorCode::Usage, file + " has no runs of " + space.name);
      search.runs.emplace_back();
      for (const json &run : runs[space.name]) {
        TriedTimes &times = search.runs.back().emplace_back();
        for (const json &time : run)
          times.push_back(time.is_number() ? 1e-3 * time.get<double>()
                                           : std::numeric_limits<double>::infinity());
      }
    }
    return search;
  }

  static Answer answerOf(const std::vector<SpaceToSearch> &spaces,
                         const std::vector<ComparedSearch> &searches) {
    Answer answer;
    for (const ComparedSearch &search : searches)
      for (std::size_t i = 0; i < spaces.size(); ++i) {
        json runs = json::array();
        for (const TriedTimes &times : search.runs[i])
          runs.push_back(spaces[i].scale.figures(times));
        answer.results.push_back({{"search", search.name},
                                  {"space", spaces[i].name},
                                  {"after", SearchScale::kAfter},
                                  {"figures", std::move(runs)}});
      }
    return answer;
  }

  std::vector<std::string> files_, runs_, searchers_{"default"};
  std::string t1_, elsewhere_, plot_, write_, format_ = "t4";
  SimulationSettings settings_;
  std::optional<SpaceToSearch> elsewhereSpace_;
};

} // namespace

std::unique_ptr<Command> makeSimulate(CLI::App &app) {
  return std::make_unique<SimulateCommand>(app);
}

} // namespace kopt
