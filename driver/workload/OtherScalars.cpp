// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/OtherScalars.h"

#include "driver/support/ElementType.h"
#include "driver/workload/DeclaredFill.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

bool isCaptured(const Launch &launch) {
  return std::ranges::any_of(launch.buffers, [](const Buffer &buffer) {
    return buffer.fill.kind == FillKind::Captured || buffer.address != 0;
  });
}

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

namespace {

/// The floating-point number at `at`; nothing if it is not one.
std::optional<double> realAt(const std::string &scalar, const std::string &bytes, std::size_t at) {
  if (scalar == "f32" && at + sizeof(float) <= bytes.size())
    return loadAs<float>(bytes.data() + at);
  if (scalar == "f64" && at + sizeof(double) <= bytes.size())
    return loadAs<double>(bytes.data() + at);
  return std::nullopt;
}

} // namespace

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
    const auto real = realAt(params[i].scalar, value->bytes, 0);
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

std::string scaleScalars(const DerivationSource &source, Launch &launch,
                         const std::function<double(std::size_t)> &factor) {
  std::string title;
  for (std::size_t i = 0; i < launch.arguments.size() && i < source.specialization.params.size();
       ++i) {
    const KernelParam &param = source.specialization.params[i];
    auto *value = std::get_if<ValueArg>(&launch.arguments[i]);
    if (!value || param.kind == ParamKind::Pointer || !value->pointers.empty())
      continue;
    std::vector<ParamMember> members = param.members;
    if (members.empty())
      members.push_back({"", param.scalar, 0});
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto &[name, scalar, at] = members[k];
      const auto held = realAt(scalar, value->bytes, at);
      if (!held)
        continue;
      const std::string bytes = realBytes(scalar, (*held == 0 ? 1 : *held) * factor(i + k));
      value->bytes.replace(at, bytes.size(), bytes);
      title += fmt::format("{}{}{}{} = {:.6g}", title.empty() ? "" : ", ", param.name,
                           name.empty() ? "" : ".", name, *realAt(scalar, bytes, 0));
    }
  }
  return title;
}

} // namespace kopt
