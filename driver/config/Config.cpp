// SPDX-License-Identifier: Apache-2.0
#include "driver/config/Config.h"

#include "driver/support/Text.h"
#include "runtime/device/Parallel.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

fs::path nearestConfig(const fs::path &directory) {
  std::error_code ignored;
  fs::path folder =
      fs::absolute(directory.empty() ? fs::path(".") : directory, ignored).lexically_normal();
  while (true) {
    fs::path file = folder / "kopt.toml";
    if (fs::is_regular_file(file, ignored))
      return file;
    fs::path parent = folder.parent_path();
    if (parent.empty() || parent == folder)
      return {};
    folder = parent;
  }
}

namespace {

using config::ConfigSource;

std::string environmentName(const std::string &key) {
  std::string name = "KOPT_" + replaceAll(key, "-", "_");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return name;
}

class Loader {
public:
  explicit Loader(const ConfigRequest &request) : request_(request) {}

  Result<Config> run() {
    KOPT_CHECK(commandLine());
    KOPT_CHECK(environment());
    if (!request_.manifest.empty()) {
      KOPT_TRY(ConfigSource source, config::readManifest(request_.manifest));
      sources_.push_back(std::move(source));
    }
    const fs::path project = nearestConfig(request_.directory), user = userConfig();
    std::error_code ignored;
    if (!project.empty() && !fs::equivalent(project, user, ignored)) {
      KOPT_TRY(ConfigSource source, config::readToml(project, config::Trust::Repository));
      sources_.push_back(std::move(source));
    }
    if (!user.empty() && fs::is_regular_file(user, ignored)) {
      KOPT_TRY(ConfigSource source, config::readToml(user, config::Trust::User));
      sources_.push_back(std::move(source));
    }
    return merge();
  }

private:
  const char *variable(const char *name) const {
    return request_.environment ? request_.environment(name) : std::getenv(name);
  }

  fs::path userConfig() const {
    const char *base = variable("XDG_CONFIG_HOME");
    if (base && *base)
      return fs::path(base) / "kopt" / "config.toml";
    const char *home = variable("HOME");
    return home && *home ? fs::path(home) / ".config" / "kopt" / "config.toml" : fs::path();
  }

  /// Command-line flags already have types; their ranges are checked like those of every other
  /// source.
  Status commandLine() {
    ConfigSource source;
    for (const auto &[key, value] : request_.commandLine)
      if (const std::string problem = config::setOption(source, key, value, "command line");
          !problem.empty())
        return makeError(ErrorCode::Usage, "--" + key + ": " + problem);
    sources_.push_back(std::move(source));
    return {};
  }

  Status environment() {
    ConfigSource source;
    for (const std::string &key : config::optionKeys()) {
      const std::string name = environmentName(key);
      const char *value = variable(name.c_str());
      if (!value || !*value)
        continue;
      if (std::string problem = config::setOptionFromText(source, key, value, name);
          !problem.empty())
        return makeError(ErrorCode::Usage, "environment variable " + name + ": " + problem);
    }
    sources_.push_back(std::move(source));
    return {};
  }

  Config merge() const {
    Config result;
    for (const Option &option : allOptions()) {
      std::string place = "default";
      for (const ConfigSource &source : sources_)
        if (const auto value = source.options.find(option.key); value != source.options.end()) {
          setValue(result.settings, option, value->second);
          place = source.places.at(option.key);
          break;
        }
      result.values.push_back({option.key, showValue(valueOf(result.settings, option)), place});
    }
    for (auto source = sources_.rbegin(); source != sources_.rend(); ++source) {
      result.kernels.insert(result.kernels.end(), source->kernels.begin(), source->kernels.end());
      result.manifest.insert(source->manifest.begin(), source->manifest.end());
    }
    addModelProposer(result);
    return result;
  }

  /// Adds the proposers llm and merge if a model is given, unless the proposers were chosen too.
  static void addModelProposer(Config &config) {
    for (ConfigValue &value : config.values)
      if (value.key == "proposers" && value.source == "default" && !config.settings.model.empty()) {
        config.settings.proposers.insert(config.settings.proposers.end(), {"llm", "merge"});
        value.value = join(config.settings.proposers, ", ");
        value.source = "default, with a model";
      }
  }

  const ConfigRequest &request_;
  std::vector<ConfigSource> sources_; ///< the strongest first
};

} // namespace

std::int64_t defaultBuildJobs(std::size_t gpus) {
  constexpr std::int64_t kMost = 16; // the most candidates of a round
  return std::clamp<std::int64_t>(std::int64_t(runtime::processors()) - 2 * std::int64_t(gpus), 0,
                                  kMost);
}

Result<Config> loadConfig(const ConfigRequest &request) { return Loader(request).run(); }

fs::path projectRoot(const Config &config) {
  const auto source = config.manifest.find("source_dir");
  return source == config.manifest.end() ? fs::current_path() : fs::path(source->second);
}

fs::path headerFolder(const Config &config, const std::string &folder) {
  const auto known = config.manifest.find("lock_dir");
  const fs::path path = !folder.empty()                  ? fs::absolute(folder)
                        : known != config.manifest.end() ? fs::path(known->second)
                                                         : projectRoot(config) / "kopt";
  return path.lexically_normal();
}

std::string explainConfig(const Config &config) {
  std::string text;
  for (const ConfigValue &value : config.values) {
    std::string line = value.key + " = " + (value.value.empty() ? "(none)" : value.value);
    text += fmt::format("{:<40} ({})\n", line, value.source);
  }
  return text;
}

} // namespace kopt
