// SPDX-License-Identifier: Apache-2.0
#include "driver/config/Options.h"

#include "driver/config/ExecutorChoice.h"
#include "driver/config/Goal.h"
#include "driver/config/GpuSelection.h"
#include "driver/source/Frontend.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <regex>
#include <type_traits>

namespace kopt {
namespace {

double asNumber(const OptionValue &value) {
  if (auto *integer = std::get_if<std::int64_t>(&value))
    return double(*integer);
  return std::get<double>(value);
}

std::string checkPositive(const OptionValue &value) {
  return asNumber(value) >= 1 ? "" : showValue(value) + " is below 1";
}
std::string checkFromZero(const OptionValue &value) {
  return asNumber(value) >= 0 ? "" : showValue(value) + " is below 0";
}
std::string checkAboveZero(const OptionValue &value) {
  const double number = asNumber(value);
  return number > 0 && std::isfinite(number) ? "" : showValue(value) + " is not above 0";
}
std::string checkNotBelowZero(const OptionValue &value) {
  const double number = asNumber(value);
  return number >= 0 && std::isfinite(number) ? "" : showValue(value) + " is below 0";
}
std::string checkRatio(const OptionValue &value) {
  const double number = asNumber(value);
  return number >= 1 && std::isfinite(number)
             ? ""
             : showValue(value) + " is below 1: it is a speedup, 1.02 for 2 percent";
}
std::string checkNotEmpty(const OptionValue &value) {
  if (auto *text = std::get_if<std::string>(&value))
    return text->empty() ? "the value is empty" : "";
  const auto &list = std::get<std::vector<std::string>>(value);
  const bool empty = list.empty() || std::ranges::find(list, "") != list.end();
  return empty ? "the list is empty or has an empty item" : "";
}
std::string checkOneOf(const std::string &text, const std::vector<std::string> &known) {
  if (std::ranges::find(known, text) != known.end())
    return "";
  const std::string hint = didYouMean(text, known);
  return "'" + text + "' is not one of " + join(known, ", ") + (hint.empty() ? "" : "; " + hint);
}
std::string checkProposers(const OptionValue &value) {
  std::vector<std::string> known = {"params", "transform", "llm", "merge", "given"};
  for (const std::string_view id : kRewriteIds)
    known.push_back(fmt::format("-{}", id));
  for (const std::string &name : std::get<std::vector<std::string>>(value))
    if (std::string problem = checkOneOf(name, known); !problem.empty())
      return problem;
  return checkNotEmpty(value);
}
std::string checkControls(const OptionValue &value) {
  const auto &words = std::get<std::vector<std::string>>(value);
  for (const std::string &word : words) {
    // nvcc splits what it takes from the environment at blanks.
    const bool isFile = word.starts_with("file:") && word.find_first_of(" \t") == word.npos;
    const std::vector<std::string> known = {"registers", "load-cache", "fast-math", "none"};
    if (std::string problem = isFile ? "" : checkOneOf(word, known); !problem.empty())
      return problem + ", nor file:PATH with a path without blanks";
  }
  return checkNotEmpty(value);
}
std::string checkModel(const OptionValue &value) {
  const std::string &text = std::get<std::string>(value);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size())
    return "'" + text +
           "' is not of the form anthropic:MODEL, openai:MODEL, exec:COMMAND, agent:COMMAND or "
           "folder:DIR";
  return checkOneOf(text.substr(0, colon), {"anthropic", "openai", "exec", "agent", "folder"});
}
std::string checkGpus(const OptionValue &value) {
  const auto gpus = parseGpuSelection(std::get<std::string>(value));
  return gpus ? "" : inWords(gpus.error());
}
std::string checkExecutor(const OptionValue &value) {
  const auto choice = parseExecutor(std::get<std::string>(value));
  return choice ? "" : inWords(choice.error());
}
std::string checkObjective(const OptionValue &value) {
  const auto goal = parseGoal(std::get<std::string>(value));
  return goal ? "" : goal.error().what + "; " + goal.error().hint;
}
std::string checkPercent(const OptionValue &value) {
  const double number = asNumber(value);
  return number >= 0 && number < 100 ? "" : showValue(value) + " is not from 0 to below 100";
}
std::string checkArch(const OptionValue &value) {
  const std::string &text = std::get<std::string>(value);
  static const std::regex kArch("sm_[1-9][0-9]{1,2}[af]?");
  return std::regex_match(text, kArch)
             ? ""
             : "'" + text + "' is not an architecture such as sm_90, sm_90a or sm_120";
}
std::string checkArchs(const OptionValue &value) {
  for (const std::string &arch : std::get<std::vector<std::string>>(value))
    if (std::string problem = arch == "all" ? "" : checkArch(arch); !problem.empty())
      return problem + ", nor 'all'";
  return checkNotEmpty(value);
}

/// An option with a few values.
Option choice(const char *key, std::string ResolvedOptions::*member, std::string help,
              std::vector<std::string> choices) {
  const auto check = [choices](const OptionValue &value) {
    return checkOneOf(std::get<std::string>(value), choices);
  };
  return {key, member, check, std::move(help), std::move(choices)};
}

const char *typeName(const Option &option) {
  constexpr const char *kNames[] = {"a whole number", "a number", "a text", "a list of texts"};
  return kNames[option.member.index()];
}

/// Converts a value to the type of the option, if that loses nothing.
std::optional<OptionValue> converted(const OptionValue &value, const Option &option) {
  if (value.index() == option.member.index())
    return value;
  const auto *integer = std::get_if<std::int64_t>(&value);
  if (integer && std::holds_alternative<OptionMember<double>>(option.member))
    return double(*integer);
  if (integer && std::holds_alternative<OptionMember<std::string>>(option.member)) // gpus = 2
    return std::to_string(*integer);
  return std::nullopt;
}

template <class T> std::optional<OptionValue> parseText(const std::string &text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    std::vector<std::string> parts;
    for (const std::string &part : split(text, ','))
      parts.emplace_back(trim(part));
    return parts;
  } else {
    char *end = nullptr;
    errno = 0;
    OptionValue value;
    if constexpr (std::is_same_v<T, std::int64_t>)
      value = std::int64_t(std::strtoll(text.c_str(), &end, 10));
    else
      value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || errno == ERANGE)
      return std::nullopt;
    return value;
  }
}

std::vector<Option> searchOptions() {
  using S = ResolvedOptions;
  return {
      {"rounds", &S::rounds, checkPositive, "maximum number of rounds"},
      {"trials", &S::trials, checkPositive, "maximum number of trials"},
      {"budget-seconds", &S::budgetSeconds, checkAboveZero,
       "limit on wall time without the program's own runs, in seconds, for all kernels together"},
      {"patience", &S::patience, checkPositive, "rounds without a gain after which it stops"},
      {"min-gain", &S::minSpeedup, checkRatio, "smallest speedup worth a patch, as a ratio"},
      {"objective", &S::objective, checkObjective,
       "what is made faster: the `mean`, the 95th percentile (`p95`) or the slowest (`worst`) of "
       "the launches; `target:120us` ends the search once it takes that long, also "
       "`worst,target:120us`"},
      {"max-launch-regression", &S::maxLaunchRegression, checkPercent,
       "percent by which no launch of a win may get slower; with several --run no run's kernel "
       "either"},
      {"proposers", &S::proposers, checkProposers,
       "where candidates come from, separated by commas: params, transform, llm, merge; "
       "`-specialise` leaves out a rewrite of transform; `given` alone: from --candidate only"},
      {"controls", &S::controls, checkControls,
       "options of the compiler that are tried on a GPU: `registers`, `load-cache`, `fast-math` "
       "(which changes results), `file:PATH` for --apply-controls, or `none`"},
      choice("strategy", &S::strategy,
             "what is tried next: `auto` what promises most, on several of the best candidates; "
             "`navigator`, `beam`, `memory` the same with other settings; `greedy` lets proposers "
             "take turns on the best one; `survey` draws at random, for recordings",
             {"auto", "navigator", "beam", "memory", "greedy", "survey"}),
      choice("experience", &S::experience,
             "`on` lets the strategy know what earlier runs of all projects taught, and adds what "
             "this one teaches; `off` does neither",
             {"on", "off"}),
      choice("roof", &S::roof,
             "`stop` tries nothing on a kernel that moves only the bytes it has to, as fast as the "
             "device can; `ignore` tries all the same, and measures no library beside a kernel",
             {"stop", "ignore"}),
      {"model", &S::model, checkModel,
       "model of the llm proposer: anthropic|openai:MODEL, exec|agent:COMMAND, folder:DIR"},
      {"max-tokens", &S::maxTokens, checkFromZero, "limit on tokens of all model calls; 0: none"},
      {"max-dollars", &S::maxDollars, checkNotBelowZero,
       "limit on the cost of all model calls, in dollars at list prices; 0: none"},
  };
}

std::vector<Option> makeOptions() {
  using S = ResolvedOptions;
  std::vector<Option> options = searchOptions();
  const std::vector<Option> others = {
      choice("device", &S::device,
             "where kernels run: `cuda`, `emulated`, or `auto` for a GPU if one is available",
             {"auto", "cuda", "emulated"}),
      {"gpus", &S::gpus, checkGpus,
       "identical GPUs that judge candidates in parallel: a number, a list such as 0,2, or `all`"},
      {"executor", &S::executor, checkExecutor,
       "where candidates are judged: `local`, `ssh:HOST[,HOST...]`, or `slurm[@HOST][:OPTIONS]` "
       "with options of salloc, where HOST is asked by ssh"},
      {"executor-program", &S::executorProgram, checkNotEmpty,
       "kopt on the hosts of the executor (default: this kopt, sent where it is missing)"},
      {"executor-folder", &S::executorFolder, checkNotEmpty,
       "the project's folder on the hosts of the executor, where --run's program is (default: the "
       "same as here)"},
      {"executor-restarts", &S::executorRestarts, checkFromZero,
       "how often one worker of the executor is started anew"},
      {"model-gpu", &S::modelGpu, checkNotEmpty, "GPU whose times the emulated device models"},
      {"arch", &S::arch, checkArch,
       "GPU architecture to build for, as sm_NN (default: the device's)"},
      {"kernels", &S::kernels, checkNotEmpty,
       "kernels to select, as 'scale' or 'scale<float, 4>', or globs (default: the annotated)"},
      {"output", &S::output, checkNotEmpty, "folder for the folders of the runs"},
      {"benchmark", &S::benchmark, checkNotEmpty},
      {"run", &S::run, checkNotEmpty},
      choice(
          "mode", &S::mode,
          "`patch` changes your files; `header` writes variants and kopt.lock into a folder that "
          "your build uses",
          {"patch", "header"}),
      {"archs", &S::archs, checkArchs,
       "architectures that variants of the header mode are for, as sm_NN, or `all` (default: the "
       "one they were measured on); with an executor, winners are also judged on its GPUs of other "
       "kinds"},
      {"tests", &S::tests, checkNotEmpty},
      choice(
          "sandbox", &S::sandbox,
          "sandbox for candidates: `auto` uses what this machine supports, `required` fails if a "
          "layer is missing, `off` disables it",
          {"auto", "required", "off"}),
      choice("assurance", &S::assurance,
             "what a win needs: `standard` takes one and lists what was not shown of it, `strict` "
             "(for CI) takes only what was shown in full",
             {"standard", "strict"}),
      choice(
          "cache-mode", &S::cacheMode,
          "with which L2 cache launches are timed: `cold`, `warm`, or `auto`: whichever is nearer "
          "to their time in the program",
          {"auto", "cold", "warm"}),
      {"seed", &S::seed, checkFromZero, "random seed"},
      {"build-cache", &S::buildCache, checkFromZero, "MiB of builds kept for later runs; 0: none"},
      {"build-jobs", &S::buildJobs, checkFromZero,
       "candidates built in advance, in parallel; 0 for none (default: the number of processors "
       "less two for each GPU)"},
  };
  options.insert(options.end(), others.begin(), others.end());
  return options;
}

} // namespace

const std::vector<Option> &allOptions() {
  static const std::vector<Option> kOptions = makeOptions();
  return kOptions;
}

const Option *findOption(const std::string &key) {
  const auto found = std::ranges::find(
      allOptions(), key, [](const Option &option) { return std::string(option.key); });
  return found == allOptions().end() ? nullptr : &*found;
}

std::string showValue(const OptionValue &value) {
  if (auto *integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  if (auto *real = std::get_if<double>(&value))
    return fmt::format("{}", *real);
  if (auto *text = std::get_if<std::string>(&value))
    return *text;
  return join(std::get<std::vector<std::string>>(value), ", ");
}

OptionValue valueOf(const ResolvedOptions &settings, const Option &option) {
  return std::visit([&](auto member) { return OptionValue(settings.*member); }, option.member);
}

void setValue(ResolvedOptions &settings, const Option &option, const OptionValue &value) {
  std::visit(
      [&](auto member) {
        using T = std::remove_reference_t<decltype(settings.*member)>;
        settings.*member = std::get<T>(value);
      },
      option.member);
}

namespace config {

std::vector<std::string> optionKeys() {
  std::vector<std::string> keys;
  for (const Option &option : allOptions())
    keys.push_back(option.key);
  return keys;
}

std::string setOption(ConfigSource &source, const std::string &key, OptionValue value,
                      const std::string &place) {
  const Option *option = findOption(key);
  if (!option) {
    const std::string hint = didYouMean(key, optionKeys());
    return "unknown key" + (hint.empty() ? "; known are " + join(optionKeys(), ", ") : "; " + hint);
  }
  std::optional<OptionValue> own = converted(value, *option);
  std::string problem = own ? option->check(*own) : std::string("expected ") + typeName(*option);
  if (problem.empty()) {
    source.options[key] = std::move(*own);
    source.places[key] = place;
  }
  return problem;
}

std::string setOptionFromText(ConfigSource &source, const std::string &key, const std::string &text,
                              const std::string &place) {
  const Option *option = findOption(key);
  if (!option)
    return setOption(source, key, text, place);
  const std::optional<OptionValue> value =
      std::visit([&]<class T>(OptionMember<T>) { return parseText<T>(text); }, option->member);
  return value ? setOption(source, key, *value, place)
               : "'" + text + "' is not " + typeName(*option);
}

} // namespace config
} // namespace kopt
