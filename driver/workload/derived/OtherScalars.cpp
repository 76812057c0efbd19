// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/OtherScalars.h"

#include "driver/support/ElementType.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace kopt {
std::string describe(const std::map<std::string, std::int64_t> &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string describeIn(const Launch &launch, std::map<std::string, std::int64_t> values) {
  std::erase_if(values, [&](const auto &one) { return !launch.bindings.contains(one.first); });
  for (auto &[name, value] : values)
    value = launch.bindings.at(name);
  return describe(values);
}

Reals realsOf(const DerivationSource &source, const Launch &launch) {
  Reals reals;
  const auto note = [&](const std::string &name, double real) {
    const auto bound = launch.bindings.find(name);
    if (bound == launch.bindings.end() || double(bound->second) != real)
      reals.try_emplace(name, real); // otherwise it may be an integer that is passed as a real
  };
  const std::vector<KernelParam> &params = source.specialization.params;
  for (std::size_t i = 0; i < std::min(params.size(), launch.arguments.size()); ++i) {
    const auto *value = std::get_if<ValueArg>(&launch.arguments[i]);
    if (!value || params[i].kind != ParamKind::Scalar)
      continue;
    std::optional<double> real;
    if (params[i].scalar == "f32" && value->bytes.size() == sizeof(float))
      real = loadAs<float>(value->bytes.data());
    if (params[i].scalar == "f64" && value->bytes.size() == sizeof(double))
      real = loadAs<double>(value->bytes.data());
    if (!real)
      continue;
    note(params[i].name, *real);
    for (const LaunchSite &site : source.kernel.launches)
      if (site.symbol == source.specialization.symbol && i < site.args.size())
        note(site.args[i], *real);
  }
  return reals;
}

std::optional<std::string> brokenRequirement(const DerivationSource &source, const Launch &launch,
                                             Bindings values) {
  const std::vector<KernelParam> &params = source.specialization.params;
  for (std::size_t i = 0; i < std::min(params.size(), launch.arguments.size()); ++i)
    if (const auto *pointer = std::get_if<BufferArg>(&launch.arguments[i]))
      values.try_emplace(params[i].name, std::int64_t(pointer->offset));
  return Requirements(source.declaration, realsOf(source, launch)).broken(values);
}

const KernelParam *scalarNamed(const DerivationSource &source, const std::string &name) {
  const std::vector<KernelParam> &params = source.specialization.params;
  for (const KernelParam &param : params)
    if (param.name == name)
      return param.kind == ParamKind::Scalar ? &param : nullptr;
  for (const LaunchSite &site : source.kernel.launches)
    for (std::size_t i = 0; i < std::min(params.size(), site.args.size()); ++i)
      if (site.symbol == source.specialization.symbol && site.args[i] == name &&
          params[i].kind == ParamKind::Scalar)
        return &params[i];
  return nullptr;
}

std::vector<std::int64_t> modesOf(const DerivationSource &source, const std::string &name) {
  constexpr std::size_t kMostModes = 12;
  std::set<std::int64_t> modes;
  if (const KernelParam *param = scalarNamed(source, name))
    for (const std::int64_t value : param->comparedWith)
      if (modes.size() < kMostModes && (value >= 0 || param->scalar.starts_with("i")))
        modes.insert(value);
  return {modes.begin(), modes.end()};
}

namespace {

template <class Real> double scaleReal(double factor, std::string &bytes, std::size_t at) {
  auto held = loadAs<Real>(bytes.data() + at);
  held = Real(double(held == 0 ? 1 : held) *
              factor); // 0 counts as 1, so that a term that it switches off comes back
  std::memcpy(bytes.data() + at, &held, sizeof held);
  return double(held);
}

/// Multiplies the floating-point number at `at`; nothing if it is not one.
std::optional<double> scale(const std::string &scalar, std::size_t at, double factor,
                            std::string &bytes) {
  if (scalar == "f32" && at + sizeof(float) <= bytes.size())
    return scaleReal<float>(factor, bytes, at);
  if (scalar == "f64" && at + sizeof(double) <= bytes.size())
    return scaleReal<double>(factor, bytes, at);
  return std::nullopt;
}

} // namespace

std::optional<DerivedLaunch> scaledScalars(const DerivationSource &source, Launch launch,
                                           const std::function<double(std::size_t)> &factor) {
  DerivedLaunch derived;
  derived.kind = Derivation::Scalars;
  for (std::size_t i = 0; i < launch.arguments.size() && i < source.specialization.params.size();
       ++i) {
    const KernelParam &param = source.specialization.params[i];
    auto *value = std::get_if<ValueArg>(&launch.arguments[i]);
    if (!value || param.kind == ParamKind::Pointer || !value->pointers.empty())
      continue;
    std::vector<ParamMember> members = param.members;
    if (members.empty())
      members.push_back({"", param.scalar, 0});
    for (std::size_t k = 0; k < members.size(); ++k)
      if (const auto number =
              scale(members[k].scalar, members[k].offset, factor(i + k), value->bytes))
        derived.title +=
            fmt::format("{}{}{}{} = {:.6g}", derived.title.empty() ? "" : ", ", param.name,
                        members[k].name.empty() ? "" : ".", members[k].name, *number);
  }
  if (derived.title.empty())
    return std::nullopt;
  launch.name = fmt::format("{} ({})", launch.name, derived.title);
  derived.launch = std::move(launch);
  return derived;
}

} // namespace kopt
