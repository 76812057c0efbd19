// SPDX-License-Identifier: Apache-2.0
// The list of all options, each with its name, its member in a source and in the settings, and its
// check.
#pragma once

#include "driver/app/config/TuneOptions.h"
#include "driver/source/TuneClauses.h"

#include <filesystem>
#include <map>
#include <string>
#include <variant>

namespace kopt::config {

using RawValue = std::variant<std::int64_t, double, std::string, std::vector<std::string>>;

/// Returns what is wrong with a value; empty: it is valid.
using Check = std::string (*)(const RawValue &);

std::string checkPositive(const RawValue &value);
std::string checkFromZero(const RawValue &value);
std::string checkAboveZero(const RawValue &value);
std::string checkRatio(const RawValue &value);
std::string checkProposers(const RawValue &value);
std::string checkModel(const RawValue &value);
std::string checkDevice(const RawValue &value);
std::string checkGpus(const RawValue &value);
std::string checkSandbox(const RawValue &value);
std::string checkAssurance(const RawValue &value);
std::string checkArch(const RawValue &value);
std::string checkMode(const RawValue &value);
std::string checkArchs(const RawValue &value);
std::string checkNotEmpty(const RawValue &value);

template <class Visitor> void forEachOption(Visitor visit) {
  using O = TuneOptions;
  using S = ResolvedOptions;
  visit("rounds", &O::rounds, &S::rounds, checkPositive);
  visit("trials", &O::trials, &S::trials, checkPositive);
  visit("budget-seconds", &O::budgetSeconds, &S::budgetSeconds, checkAboveZero);
  visit("patience", &O::patience, &S::patience, checkPositive);
  visit("min-gain", &O::minSpeedup, &S::minSpeedup, checkRatio);
  visit("proposers", &O::proposers, &S::proposers, checkProposers);
  visit("model", &O::model, &S::model, checkModel);
  visit("max-tokens", &O::maxTokens, &S::maxTokens, checkFromZero);
  visit("device", &O::device, &S::device, checkDevice);
  visit("gpus", &O::gpus, &S::gpus, checkGpus);
  visit("model-gpu", &O::modelGpu, &S::modelGpu, checkNotEmpty);
  visit("arch", &O::arch, &S::arch, checkArch);
  visit("kernels", &O::kernels, &S::kernels, checkNotEmpty);
  visit("output", &O::output, &S::output, checkNotEmpty);
  visit("benchmark", &O::benchmark, &S::benchmark, checkNotEmpty);
  visit("run", &O::run, &S::run, checkNotEmpty);
  visit("mode", &O::mode, &S::mode, checkMode);
  visit("archs", &O::archs, &S::archs, checkArchs);
  visit("tests", &O::tests, &S::tests, checkNotEmpty);
  visit("sandbox", &O::sandbox, &S::sandbox, checkSandbox);
  visit("assurance", &O::assurance, &S::assurance, checkAssurance);
  visit("seed", &O::seed, &S::seed, checkFromZero);
  visit("build-jobs", &O::buildJobs, &S::buildJobs, checkFromZero);
}

/// The options of one source, each with the place that set it.
struct ConfigSource {
  TuneOptions options;
  std::map<std::string, std::string> places; ///< key -> "kopt.toml:4"
  std::vector<KernelClauses> kernels;
  std::map<std::string, std::string> manifest;
};

/// Checks and stores a value. Returns what is wrong with key or value; empty: both are valid.
std::string setOption(ConfigSource &source, const std::string &key, RawValue value,
                      const std::string &place);
/// As setOption(), from text: parses numbers and splits lists at commas.
std::string setOptionFromText(ConfigSource &source, const std::string &key, const std::string &text,
                              const std::string &place);

std::vector<std::string> optionKeys();
std::string showValue(const RawValue &value);

/// Whose file it is. A repository's file may not choose what runs on the user's machine or where
/// sources are sent.
enum class Trust { User, Repository };

Result<ConfigSource> readToml(const std::filesystem::path &file, Trust trust);
Result<ConfigSource> readManifest(const std::filesystem::path &file);

} // namespace kopt::config
