// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/Reproduce.h"

#include "driver/report/facts/RunHistory.h"
#include "driver/support/CommandWords.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace kopt {
namespace {

using nlohmann::json;

/// The words of the command, from the recorded settings.
class CommandBuilder {
public:
  CommandBuilder(const RunRecord &run, const char *command)
      : words_{"kopt", command}, config_(recordedObject(run.configJson)),
        device_(recordedObject(run.deviceJson)) {}

  std::string build() {
    for (const std::string &file : list("files"))
      words_.push_back(file);
    option("-p", "build_directory");
    for (const std::string &kernel : list("kernels"))
      words_.insert(words_.end(), {"--kernel", kernel});
    option("--run", "program");
    for (const std::string &command : list("other_runs"))
      words_.insert(words_.end(), {"--run", command});
    option("--build", "build");
    placeOptions();
    searchOptions();
    return finish();
  }

  std::string buildProfile(const RunRecord &run) {
    words_.push_back(run.file);
    option("-p", "build_directory");
    words_.insert(words_.end(), {"--kernel", run.kernel});
    option("--run", "program");
    deviceOptions();
    option("--arch", "arch");
    return finish();
  }

private:
  /// Adds the compiler's flags and the change to the folder in which the run was started.
  std::string finish() {
    if (const std::vector<std::string> flags = list("flags"); !flags.empty()) {
      words_.push_back("--");
      words_.insert(words_.end(), flags.begin(), flags.end());
    }
    const std::string folder = textIn(config_, "directory");
    return (folder.empty() ? "" : "cd " + joinCommand({folder}) + " && ") + joinCommand(words_);
  }

  std::vector<std::string> list(const char *key) const {
    std::vector<std::string> values;
    if (const auto found = config_.find(key); found != config_.end() && found->is_array())
      for (const json &value : *found)
        values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    return values;
  }

  /// Adds an option with the recorded setting; an empty one was not set.
  void option(const std::string &flag, const char *key) {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null())
      return;
    std::string value = found->is_string()         ? found->get<std::string>()
                        : found->is_array()        ? join(list(key), ",")
                        : found->is_number_float() ? fmt::format("{}", found->get<double>())
                                                   : found->dump();
    if (!value.empty())
      words_.insert(words_.end(), {flag, std::move(value)});
  }

  /// Names the device that was used, because `auto` may choose another one.
  void deviceOptions() {
    const std::string kind = textIn(device_, "kind");
    if (kind == "cuda" || kind == "emulated")
      words_.insert(words_.end(), {"--device", kind});
    else
      option("--device", "device");
    if (kind == "emulated")
      option("--model-gpu", "model_gpu");
  }

  void placeOptions() {
    deviceOptions();
    // The default is one GPU, the first.
    if (const std::vector<std::string> gpus = list("gpus"); !gpus.empty() && gpus != kFirstGpu)
      option("--gpus", "gpus");
    option("--arch", "arch");
  }

  void searchOptions() {
    for (std::string &file : list("candidates"))
      words_.insert(words_.end(), {"--candidate", std::move(file)});
    option("--proposers", "proposers");
    option("--model", "model");
    if (!textIn(config_, "model").empty()) {
      option("--max-tokens", "max_tokens");
      option("--max-dollars", "max_dollars");
    }
    option("--rounds", "rounds");
    option("--trials", "trials");
    option("--patience", "patience");
    option("--budget-seconds", "budget_seconds");
    if (const auto gain = config_.find("min_gain"); gain != config_.end() && gain->is_number())
      words_.insert(words_.end(), {"--min-gain", fmt::format("{:.10g}", 1 + gain->get<double>())});
    for (const auto &[key, usual] : {std::pair<const char *, json>("objective", "mean"),
                                     {"max_launch_regression", 2},
                                     {"strategy", "auto"},
                                     {"assurance", "standard"},
                                     {"experience", "on"},
                                     {"roof", "stop"},
                                     {"cache_mode", "auto"}})
      if (config_.value(key, usual) != usual)
        option("--" + replaceAll(key, "_", "-"), key);
    option("--seed", "seed");
  }

  inline static const std::vector<std::string> kFirstGpu = {"0"};
  std::vector<std::string> words_;
  const json config_, device_;
};

} // namespace

std::string reproduceCommand(const RunRecord &run) { return CommandBuilder(run, "tune").build(); }

std::string profileCommand(const RunRecord &run) {
  return CommandBuilder(run, "profile").buildProfile(run);
}

} // namespace kopt
