// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/ModelChecks.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr Duration kAnswerLimit{3};

class ModelChecks {
public:
  ModelChecks(const ResolvedOptions &options, HttpClient &http, ProcessRunner &processes)
      : options_(options), http_(http), processes_(processes),
        kind_(options.model.substr(0, options.model.find(':'))) {
    const auto &proposers = options.proposers;
    asked_ = std::find(proposers.begin(), proposers.end(), "llm") != proposers.end();
    alone_ = asked_ && proposers.size() == 1;
  }

  std::vector<MachineCheck> check(const std::vector<Provider> &providers) {
    const bool any = std::any_of(providers.begin(), providers.end(),
                                 [](const Provider &one) { return one.isConfigured(); });
    if ((kind_ == "exec" || kind_ == "agent") && !options_.model.empty())
      checkCommand(options_.model.substr(kind_.size() + 1));
    else
      checkModel(any);
    for (const Provider &provider : providers)
      if (isChosen(provider) || provider.isConfigured())
        checkProvider(provider);
    return std::move(checks_);
  }

private:
  bool isChosen(const Provider &provider) const {
    return !options_.model.empty() && kind_ == provider.kind;
  }

  /// How much it matters that the model gives no answer: other proposers go on without it.
  CheckOutcome silence(bool chosen) const {
    return chosen && alone_ ? CheckOutcome::Blocking : CheckOutcome::Optional;
  }

  std::string unasked() const {
    return asked_ ? "" : ", which no proposer asks: 'llm' is not among them";
  }

  void checkModel(bool anyProvider) {
    if (!options_.model.empty())
      checks_.push_back(passed("language model", options_.model + unasked()));
    else if (asked_)
      checks_.push_back(
          failed("language model", CheckOutcome::Blocking, "the proposer 'llm' needs a model",
                 "name one with --model or the key 'model', or take 'llm' out of the proposers",
                 ErrorCode::Usage));
    else
      checks_.push_back(passed(
          "language model", anyProvider ? "none chosen (--model chooses one); search works without"
                                        : "no language model configured; search works without"));
  }

  /// Looks for the program that `sh` would run. The command itself is not shown: it may hold a key.
  void checkCommand(const std::string &command) {
    const std::size_t begin = std::min(command.find_first_not_of(' '), command.size());
    const std::string word = command.substr(begin, command.find(' ', begin) - begin);
    if (word.empty() || word.find_first_of("=$`'\"\\(){}[]<>;|&*?!#~\t\n") != word.npos) {
      checks_.push_back(
          passed("language model", "a command for the shell, which is not tried here" + unasked()));
      return;
    }
    ProcessSpec spec;
    spec.argv = {"sh", "-c", R"(command -v -- "$1")", "sh", word};
    spec.timeout = kAnswerLimit;
    const auto found = processes_.run(spec);
    if (found && found->ok())
      checks_.push_back(passed("language model",
                               fmt::format("the command '{}', which is found{}", word, unasked())));
    else
      checks_.push_back(failed("language model", silence(true),
                               fmt::format("the command '{}' is not found", word),
                               "install it, or correct the model " + kind_ + ":COMMAND"));
  }

  void checkProvider(const Provider &provider) {
    const bool chosen = isChosen(provider);
    const std::string host = hostOf(provider.url);
    const Result<long> status = askForModels(provider, http_, kAnswerLimit);
    const bool refused = status && (*status == 401 || *status == 403);
    const std::string keyCheck = provider.name + " key";
    if (provider.lacksKey())
      // A model without a key ends the run, whichever proposers there are.
      checks_.push_back(failed(
          keyCheck, chosen && asked_ ? CheckOutcome::Blocking : CheckOutcome::Optional,
          provider.keyVariable + " is not set",
          fmt::format("export {}=…; kopt also works without a model", provider.keyVariable)));
    else if (refused)
      checks_.push_back(failed(keyCheck, silence(chosen),
                               provider.key.empty()
                                   ? fmt::format("{} is not set, and {} wants a key (status {})",
                                                 provider.keyVariable, host, *status)
                                   : fmt::format("{} refuses the key of {} (status {})", host,
                                                 provider.keyVariable, *status),
                               fmt::format("set {} to a valid key", provider.keyVariable)));
    else
      checks_.push_back(passed(keyCheck, provider.key.empty()
                                             ? provider.keyVariable + " is not set, nor needed"
                                             : provider.keyVariable + " is set"));
    addEndpoint(provider, host, status, refused);
  }

  void addEndpoint(const Provider &provider, const std::string &host, const Result<long> &status,
                   bool refused) {
    const std::string name = provider.name + " endpoint";
    const std::string variable =
        fmt::format("check {}, the network and the proxy", provider.urlVariable);
    if (!status)
      checks_.push_back(failed(name, silence(isChosen(provider)), status.error().what, variable));
    else if (*status >= 500 || (*status >= 300 && *status < 400))
      checks_.push_back(failed(name, silence(isChosen(provider)),
                               fmt::format("{} answers with status {}", host, *status), variable));
    else if (*status < 300 || refused || *status == 429)
      checks_.push_back(passed(name, host + " answers"));
    else // a server may answer chats and yet not list its models
      checks_.push_back(
          passed(name, fmt::format("{} answers, but does not list its models (status {})", host,
                                   *status)));
  }

  const ResolvedOptions &options_;
  HttpClient &http_;
  ProcessRunner &processes_;
  std::string kind_;
  bool asked_ = false; ///< the llm proposer takes part
  bool alone_ = false; ///< and is the only one
  std::vector<MachineCheck> checks_;
};

} // namespace

std::vector<MachineCheck> checkModels(const ResolvedOptions &options,
                                      const std::vector<Provider> &providers, HttpClient &http,
                                      ProcessRunner &processes) {
  return ModelChecks(options, http, processes).check(providers);
}

} // namespace kopt
