// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/recorded/RecordedSpace.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace kopt {
namespace {

using Json = nlohmann::json;

constexpr double kMilli = 1e-3; ///< both formats have milliseconds

/// What T4 calls a point that failed. Kernel Tuner's caches have the first part of the name of an
/// error's class in place of a time.
constexpr std::array<std::pair<Verdict, const char *>, 5> kInvalid = {{
    {Verdict::BuildFailed, "compile"},
    {Verdict::RunFailed, "runtime"},
    {Verdict::WrongResult, "correctness"},
    {Verdict::TimedOut, "timeout"},
    {Verdict::Rejected, "constraints"},
}};
constexpr std::array<std::pair<Verdict, const char *>, 3> kErrors = {{
    {Verdict::BuildFailed, "CompilationFailedConfig"},
    {Verdict::RunFailed, "RuntimeFailedConfig"},
    {Verdict::Rejected, "InvalidConfig"},
}};

Verdict verdictOf(const auto &names, std::string_view name) {
  const auto found =
      std::ranges::find_if(names, [&](const auto &each) { return name == each.second; });
  return found == names.end() ? Verdict::RunFailed : found->first;
}
const char *nameOf(const auto &names, Verdict verdict) {
  const auto found = std::ranges::find(names, verdict, &std::pair<Verdict, const char *>::first);
  return found == names.end() ? names[1].second : found->second;
}

std::int64_t wholeNumber(const Json &value) {
  return value.is_boolean() ? std::int64_t(value.get<bool>()) : value.get<std::int64_t>();
}

/// Reads entries of a file, of which errors name the entry.
class PointReader {
public:
  explicit PointReader(RecordedSpace &space) : space_(space) {}

  /// `sum`: the members of `times` that are parts of the cost.
  Status add(const Json &values, std::vector<double> samples, Verdict failure, const Json &times,
             std::initializer_list<const char *> sum) {
    std::vector<std::int64_t> key;
    for (const TunableParam &param : space_.declaration.params) {
      const auto value = values.find(param.name);
      if (value == values.end() || !(value->is_number_integer() || value->is_boolean()))
        return makeError(ErrorCode::Usage, fmt::format("point {}: '{}' is no whole number",
                                                       values.dump(), param.name));
      key.push_back(wholeNumber(*value));
      if (std::ranges::count(param.values, key.back()) == 0)
        return makeError(ErrorCode::Usage, fmt::format("point {}: '{}' has no value {}",
                                                       values.dump(), param.name, key.back()));
    }
    RecordedPoint point{.seconds = std::move(samples), .failure = failure};
    for (double &sample : point.seconds)
      sample *= kMilli;
    for (const char *part : sum)
      if (const auto time = times.find(part); time != times.end() && time->is_number())
        point.cost += time->get<double>() * kMilli;
    space_.points.insert_or_assign(std::move(key), std::move(point));
    return {};
  }

private:
  RecordedSpace &space_;
};

std::vector<double> numbersOf(const Json &object, const char *name) {
  std::vector<double> numbers;
  if (const auto list = object.find(name); list != object.end() && list->is_array())
    for (const Json &each : *list)
      if (each.is_number())
        numbers.push_back(each.get<double>());
  return numbers;
}

Status readCache(const Json &file, RecordedSpace &space) {
  space.kernel = file.value("kernel_name", "");
  space.device = file.value("device_name", "");
  for (const Json &key : file.at("tune_params_keys")) {
    TunableParam param{.name = key.get<std::string>(), .values = {}, .clause = {}};
    for (const Json &value : file.at("tune_params").at(param.name))
      param.values.push_back(wholeNumber(value));
    space.declaration.params.push_back(std::move(param));
  }
  PointReader points(space);
  for (const Json &entry : file.at("cache")) {
    const Json &time = entry.at("time");
    std::vector<double> samples =
        time.is_number() ? numbersOf(entry, "times") : std::vector<double>();
    if (time.is_number() && samples.empty())
      samples = {time.get<double>()};
    KOPT_CHECK(points.add(entry, std::move(samples),
                          verdictOf(kErrors, time.is_string() ? time.get<std::string>() : ""),
                          entry, {"compile_time", "verification_time", "benchmark_time"}));
  }
  return {};
}

/// T1 writes the values of a parameter as Python does: "[16, 32]".
Status readT1(const Json &file, RecordedSpace &space) {
  const Json &configuration = file.at("ConfigurationSpace");
  space.kernel = file.at("KernelSpecification").value("KernelName", "");
  for (const Json &each : configuration.at("TuningParameters")) {
    const std::string name = each.at("Name"), text = each.at("Values");
    const Json values = Json::parse(text, nullptr, false);
    if (!values.is_array() || values.empty() ||
        !std::ranges::all_of(values, [](const Json &value) { return value.is_number_integer(); }))
      return makeError(ErrorCode::Usage,
                       fmt::format("T1: the values of '{}' are not a list of whole "
                                   "numbers: {}",
                                   name, text));
    space.declaration.params.push_back({.name = name, .values = values, .clause = {}});
  }
  for (const Json &each : configuration.value("Conditions", Json::array()))
    space.declaration.requirements.push_back(each.at("Expression"));
  return {};
}

/// Without a T1 file the values are those that occur, in their order as numbers.
void inferParams(const Json &results, RecordedSpace &space) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const Json &result : results)
    for (const auto &[name, value] : result.at("configuration").items())
      if (value.is_number_integer())
        values[name].insert(value.get<std::int64_t>());
  for (const auto &[name, own] : values)
    space.declaration.params.push_back(
        {.name = name, .values = {own.begin(), own.end()}, .clause = {}});
}

Status readT4(const Json &file, RecordedSpace &space) {
  const Json &results = file.at("results");
  if (const auto metadata = file.find("metadata"); metadata != file.end())
    space.device = metadata->value("device", "");
  if (space.declaration.params.empty())
    inferParams(results, space);
  PointReader points(space);
  for (const Json &result : results) {
    const std::string invalid = result.at("invalidity");
    const Json &times = result.at("times");
    std::vector<double> samples;
    if (invalid == "correct") {
      samples = numbersOf(times, "runtimes");
      for (const Json &each : result.value("measurements", Json::array()))
        if (samples.empty() && each.value("name", "") == "time" && each.at("value").is_number())
          samples = {each.at("value").get<double>()};
    }
    KOPT_CHECK(points.add(result.at("configuration"), std::move(samples),
                          verdictOf(kInvalid, invalid), times,
                          {"compilation", "compilation_time", "validation", "benchmark"}));
  }
  return {};
}

Json toCache(const RecordedSpace &space) {
  Json file{{"device_name", space.device}, {"kernel_name", space.kernel}, {"objective", "time"}};
  for (const TunableParam &param : space.declaration.params) {
    file["tune_params_keys"].push_back(param.name);
    file["tune_params"][param.name] = param.values;
  }
  for (const auto &[values, point] : space.points) {
    Json entry;
    for (std::size_t i = 0; i < values.size(); ++i)
      entry[space.declaration.params[i].name] = values[i];
    entry["time"] = nameOf(kErrors, point.failure);
    if (!point.seconds.empty()) {
      std::vector<double> times = point.seconds;
      for (double &time : times)
        time /= kMilli;
      entry["time"] = point.mean() / kMilli;
      entry["times"] = times;
    }
    entry["compile_time"] = point.cost / kMilli;
    for (const char *part :
         {"verification_time", "benchmark_time", "strategy_time", "framework_time"})
      entry[part] = 0;
    file["cache"][fmt::format("{}", fmt::join(values, ","))] = std::move(entry);
  }
  return file;
}

Json toT1(const RecordedSpace &space) {
  Json parameters = Json::array(), conditions = Json::array();
  std::vector<std::string> names;
  for (const TunableParam &param : space.declaration.params) {
    parameters.push_back(
        {{"Name", param.name}, {"Type", "int"}, {"Values", Json(param.values).dump()}});
    names.push_back(param.name);
  }
  for (const std::string &requirement : space.declaration.requirements)
    conditions.push_back({{"Parameters", names}, {"Expression", requirement}});
  return {{"ConfigurationSpace", {{"TuningParameters", parameters}, {"Conditions", conditions}}},
          {"KernelSpecification", {{"Language", "CUDA"}, {"KernelName", space.kernel}}}};
}

Json toT4(const RecordedSpace &space) {
  Json results = Json::array();
  for (const auto &[values, point] : space.points) {
    Json configuration, measurements = Json::array();
    for (std::size_t i = 0; i < values.size(); ++i)
      configuration[space.declaration.params[i].name] = values[i];
    std::vector<double> runtimes = point.seconds;
    for (double &time : runtimes)
      time /= kMilli;
    if (!runtimes.empty())
      measurements.push_back({{"name", "time"}, {"value", point.mean() / kMilli}, {"unit", "ms"}});
    results.push_back(
        {{"configuration", std::move(configuration)},
         {"objectives", {"time"}},
         {"times", {{"compilation_time", point.cost / kMilli}, {"runtimes", runtimes}}},
         {"invalidity", runtimes.empty() ? nameOf(kInvalid, point.failure) : "correct"},
         {"correctness", point.failure == Verdict::WrongResult && runtimes.empty() ? 0 : 1},
         {"measurements", std::move(measurements)}});
  }
  return {{"schema_version", "1.0.0"},
          {"metadata", {{"timeunit", "milliseconds"}, {"device", space.device}}},
          {"results", std::move(results)}};
}

} // namespace

double RecordedPoint::mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / double(seconds.size());
}

Result<RecordedSpace> readRecordedSpace(const Json &file, const Json *t1) {
  RecordedSpace space;
  try {
    if (t1)
      KOPT_CHECK(readT1(*t1, space));
    if (file.is_object() && file.contains("cache"))
      KOPT_CHECK(readCache(file, space));
    else if (file.is_object() && file.contains("results"))
      KOPT_CHECK(readT4(file, space));
    else
      return makeError(ErrorCode::Usage, "neither a cache of Kernel Tuner nor a T4 file");
  } catch (const Json::exception &error) {
    return makeError(ErrorCode::Usage, error.what());
  }
  if (std::ranges::none_of(space.points,
                           [](const auto &each) { return !each.second.seconds.empty(); }))
    return makeError(ErrorCode::Usage, "no point of it ran");
  return space;
}

Json writeRecordedSpace(const RecordedSpace &space, RecordFormat format) {
  switch (format) {
  case RecordFormat::KernelTuner:
    return toCache(space);
  case RecordFormat::T1:
    return toT1(space);
  case RecordFormat::T4:
    break;
  }
  return toT4(space);
}

} // namespace kopt
