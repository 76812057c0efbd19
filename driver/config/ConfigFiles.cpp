// SPDX-License-Identifier: Apache-2.0
// Reads kopt.toml and the manifest of kopt_tune_kernels() into ConfigSources.
#include "driver/config/Options.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

namespace kopt::config {
namespace {

namespace fs = std::filesystem;

/// Keys that choose programs, network endpoints or the sandbox, and where to set each instead.
const std::map<std::string, std::string> &keysOfTheUser() {
  static const std::map<std::string, std::string> kKeys = {
      {"endpoint", "set KOPT_OPENAI_BASE_URL in your environment"},
      {"base-url", "set KOPT_OPENAI_BASE_URL in your environment"},
      {"openai-base-url", "set KOPT_OPENAI_BASE_URL in your environment"},
      {"anthropic-base-url", "set KOPT_ANTHROPIC_BASE_URL in your environment"},
      {"api-key", "set the provider's key variable in your environment"},
      {"command", "give commands on the command line"},
      {"benchmark", "give it to kopt_tune_kernels(... BENCHMARK ...) or on the command line"},
      {"run", "give it to kopt_tune_kernels(... RUN ...) or on the command line"},
      {"tests", "give it to kopt_tune_kernels(... TESTS ...) or on the command line"},
      {"executor", "put it into --executor, KOPT_EXECUTOR or your own config"},
      {"executor-folder", "put it into --executor-folder or your own config"},
      {"executor-program", "put it into --executor-program or your own config"},
      {"sandbox", "put it into --sandbox, KOPT_SANDBOX or your own config "
                  "($XDG_CONFIG_HOME/kopt/config.toml)"}};
  return kKeys;
}

class TomlReader {
public:
  TomlReader(fs::path file, Trust trust) : file_(std::move(file)), trust_(trust) {}

  Result<ConfigSource> read() {
    KOPT_TRY(std::string text, readFile(file_));
    toml::table document;
    try {
      document = toml::parse(text, file_.string());
    } catch (const toml::parse_error &problem) {
      return fail(problem.source(), std::string(problem.description()));
    }
    for (auto &&[key, node] : document) {
      const std::string name(key.str());
      if (name == "tune" && node.is_table())
        KOPT_CHECK(tuneTable(*node.as_table()));
      else if (name == "kernel" && node.is_array_of_tables())
        KOPT_CHECK(kernelTables(*node.as_array()));
      else if (name == "tune" || name == "kernel")
        return fail(node.source(), "'" + name + "' has the wrong form",
                    name == "tune" ? "write it as a table: [tune]" : "write each as [[kernel]]");
      else
        return unknownKey(node.source(), name, {"tune", "kernel"});
    }
    return std::move(source_);
  }

private:
  std::string place(const toml::source_region &source) const {
    return file_.string() + ":" + std::to_string(source.begin.line);
  }
  tl::unexpected<Error> fail(const toml::source_region &source, const std::string &what,
                             const std::string &hint = {}) const {
    return makeError(ErrorCode::Usage, what, hint, place(source));
  }
  tl::unexpected<Error> unknownKey(const toml::source_region &source, const std::string &name,
                                   const std::vector<std::string> &known) const {
    std::string hint = didYouMean(name, known);
    return fail(source, "unknown key '" + name + "'",
                hint.empty() ? "known keys: " + join(known, ", ") : hint);
  }

  Status tuneTable(const toml::table &table) {
    for (auto &&[key, node] : table) {
      const std::string name(key.str());
      if (trust_ == Trust::Repository)
        if (auto found = keysOfTheUser().find(name); found != keysOfTheUser().end())
          return fail(node.source(), "'" + name + "' may not be set by a repository's kopt.toml",
                      found->second);
      std::optional<OptionValue> value = valueOf(node);
      if (!value)
        return fail(node.source(), "'" + name + "' has a value of the wrong type");
      if (trust_ == Trust::Repository && name == "model" && reachesOutside(*value))
        return fail(node.source(),
                    "a repository's kopt.toml may not set a model that runs a command or writes "
                    "into a folder",
                    "put it into KOPT_MODEL, --model or your own config "
                    "($XDG_CONFIG_HOME/kopt/config.toml)");
      std::vector<std::string> keys = optionKeys();
      if (std::find(keys.begin(), keys.end(), name) == keys.end())
        return unknownKey(node.source(), name, keys);
      if (std::string problem = setOption(source_, name, std::move(*value), place(node.source()));
          !problem.empty())
        return fail(node.source(), "'" + name + "': " + problem);
    }
    return {};
  }

  static bool reachesOutside(const OptionValue &value) {
    auto *text = std::get_if<std::string>(&value);
    return text && (trim(*text).starts_with("exec:") || trim(*text).starts_with("agent:") ||
                    trim(*text).starts_with("folder:"));
  }

  static std::optional<OptionValue> valueOf(const toml::node &node) {
    if (auto *integer = node.as_integer())
      return OptionValue(std::int64_t(integer->get()));
    if (auto *real = node.as_floating_point())
      return OptionValue(real->get());
    if (auto *text = node.as_string())
      return OptionValue(text->get());
    const toml::array *array = node.as_array();
    if (!array)
      return std::nullopt;
    std::vector<std::string> items;
    for (const toml::node &item : *array) {
      if (!item.is_string())
        return std::nullopt;
      items.push_back(item.as_string()->get());
    }
    return OptionValue(std::move(items));
  }

  Status kernelTables(const toml::array &tables) {
    for (const toml::node &item : tables) {
      const toml::table &table = *item.as_table();
      KernelClauses kernel;
      for (auto &&[key, node] : table) {
        const std::string name(key.str());
        if (name == "name" && node.is_string()) {
          kernel.pattern = node.as_string()->get();
          kernel.place = place(node.source());
        } else if (name == "clauses" && node.is_array())
          KOPT_CHECK(clauses(*node.as_array(), kernel));
        else if (name == "name" || name == "clauses")
          return fail(node.source(), "'" + name + "' has a value of the wrong type");
        else
          return unknownKey(node.source(), name, {"name", "clauses"});
      }
      if (kernel.pattern.empty())
        return fail(table.source(), "a [[kernel]] without a name",
                    "write name = \"the kernel's qualified name\"");
      source_.kernels.push_back(std::move(kernel));
    }
    return {};
  }

  Status clauses(const toml::array &items, KernelClauses &kernel) const {
    for (const toml::node &item : items) {
      if (!item.is_string())
        return fail(item.source(), "a clause that is not a text");
      kernel.clauses.push_back(
          {item.as_string()->get(), file_.string(), unsigned(item.source().begin.line)});
    }
    return {};
  }

  fs::path file_;
  Trust trust_;
  ConfigSource source_;
};

} // namespace

Result<ConfigSource> readToml(const fs::path &file, Trust trust) {
  return TomlReader(file, trust).read();
}

Result<ConfigSource> readManifest(const fs::path &file) {
  KOPT_TRY(std::string text, readFile(file));
  auto fail = [&](const std::string &what) {
    return makeError(ErrorCode::Usage, what,
                     "run CMake again: kopt_tune_kernels() writes this file", file.string());
  };
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object())
    return fail("the manifest is not a JSON object");
  if (document.value("schema_version", nlohmann::json()) != 1)
    return fail("the manifest has another schema version than 1");
  static const std::vector<std::string> kFacts = {"schema_version", "target",  "source_dir",
                                                  "build_dir",      "sources", "lock_dir"};
  ConfigSource source;
  for (const auto &[name, value] : document.items()) {
    if (std::find(kFacts.begin(), kFacts.end(), name) != kFacts.end()) {
      if (value.is_string())
        source.manifest[name] = value.get<std::string>();
      continue;
    }
    OptionValue raw;
    if (value.is_number_integer())
      raw = value.get<std::int64_t>();
    else if (value.is_number())
      raw = value.get<double>();
    else if (value.is_string())
      raw = value.get<std::string>();
    else if (value.is_array() && std::all_of(value.begin(), value.end(),
                                             [](const auto &item) { return item.is_string(); }))
      raw = value.get<std::vector<std::string>>();
    else
      return fail("'" + name + "' has a value of the wrong type");
    // The CMake function also writes empty lists, which set nothing.
    if (auto *list = std::get_if<std::vector<std::string>>(&raw); list && list->empty())
      continue;
    const std::string key = replaceAll(name, "_", "-");
    if (key == "model" || key == "sandbox" || key.starts_with("executor"))
      return fail("'" + key + "' may not be set by a build system");
    if (std::string problem = setOption(source, key, std::move(raw), "kopt_tune_kernels()");
        !problem.empty())
      return fail("'" + name + "': " + problem);
  }
  return source;
}

} // namespace kopt::config
