// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/InferredTunables.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/support/Text.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <regex>
#include <set>

namespace kopt {
namespace {

using Axes = std::array<std::string, 3>;

std::vector<std::string> namesOf(const std::string &text) {
  return namesIn(text).value_or(std::vector<std::string>());
}

bool isIn(const Axes &axes, const std::string &name) {
  return std::ranges::any_of(
      axes, [&](const std::string &axis) { return std::ranges::count(namesOf(axis), name) > 0; });
}

class TunableFinder {
public:
  TunableFinder(const KernelSpec &kernel, const Specialization &specialization)
      : kernel_(kernel), specialization_(specialization) {
    for (const LaunchSite &site : kernel.launches)
      if (!site_.line && site.symbol == specialization.symbol &&
          site.geometry != GeometryKind::Unresolved)
        site_ = site;
    const std::vector<NamedConstant> constants = constantsInScope(kernel, specialization);
    for (const NamedConstant &constant : constants)
      if (std::ranges::count(site_.variables, constant.name) == 0) {
        present_[constant.name] = constant.value;
        ranges_[constant.name] = constant.valueRange;
      }
    for (const TemplateArg &argument : specialization.templateArgs) {
      const auto same = std::ranges::find_if(constants, [&](const NamedConstant &constant) {
        return argument.range == constant.valueRange;
      });
      if (argument.integral && same != constants.end())
        spelledAs_[argument.name] = same->name; // it is tuned under the constant's name
      else if (argument.integral &&
               present_.try_emplace(argument.name, std::atoll(argument.value.c_str())).second &&
               argument.range)
        ranges_[argument.name] = *argument.range;
    }
  }

  InferredTunables find(const TuneDeclaration &known) {
    for (const auto &[name, range] : ranges_)
      if (std::ranges::find(known.params, name, &TunableParam::name) == known.params.end())
        consider(name, range);
    for (const std::string &text : kernel_.sizes->requirements)
      require(text);
    for (const std::string &text : kernel_.sizes->kept)
      if (const auto now = evaluateExpression(substituted(text, spelledAs_), present_))
        require(fmt::format("{} == {}", text, *now));
    if (!kernel_.sizes->sharedBytes.empty())
      require(fmt::format("{} <= {}", join(kernel_.sizes->sharedBytes, " + "),
                          gpu::kSharedWithoutOptIn));
    std::string threads = "1";
    for (const std::string &axis : site_.block) {
      if (axis != "1")
        threads = (threads == "1" ? "" : threads + " * ") + asOperand(axis);
      requireExact(axis, std::regex(R"((\w+) / (\w+))"));
    }
    require(fmt::format("{} <= {}", threads, gpu::kMostThreads));
    for (const std::string &axis : site_.grid)
      requireWholeBlocks(axis);
    return std::move(found_);
  }

private:
  /// All that is known of the constant, also under the names of template parameters.
  SizeUse useOf(const std::string &name) const {
    SizeUse all;
    for (const SizeUse &use : kernel_.sizes->uses) {
      const auto constant = spelledAs_.find(use.name);
      if (use.name != name && (constant == spelledAs_.end() || constant->second != name))
        continue;
      all.inKernel |= use.inKernel;
      all.inOtherKernels |= use.inOtherKernels;
      all.steps |= use.steps;
      all.acrossBlocks |= use.acrossBlocks;
      all.tiles |= use.tiles;
      all.otherUse = all.otherUse.empty() ? use.otherUse : all.otherUse;
    }
    return all;
  }

  void consider(const std::string &name, const SourceRange &range) {
    const SizeUse use = useOf(name);
    const std::int64_t value = present_.at(name);
    const bool isBlock = isIn(site_.block, name);
    const bool isSpelled = value > 1 && use.inKernel && !isBlock &&
                           std::ranges::count(site_.block, std::to_string(value)) > 0;
    // How many threads a warp has is not the program's choice.
    if (value < 1 || slug(name).find("warp") != std::string::npos ||
        !(isBlock || isSpelled || (use.steps && use.tiles)))
      return;
    const std::string launch = fmt::format(
        "the launch at {}:{}", std::filesystem::path(site_.file).filename().string(), site_.line);
    InferredTunable made{name, valuesOf(name, value, isBlock), "a step of the kernel", "", false};
    if (isBlock)
      made.reason = "the block of " + launch;
    if (!use.otherUse.empty())
      made.doubt = "it is also " + use.otherUse;
    else if (isSpelled)
      made.doubt = launch + " spells its block in numbers: name this constant there";
    else if (use.acrossBlocks && !isIn(site_.grid, name))
      made.doubt = "the grid does not follow it";
    else if (isBlock && !use.inKernel && !kernel_.sizes->readsBlockDim)
      made.doubt = "the kernel does not read blockDim";
    else if (kernel_.units.size() > 1)
      made.doubt = "several files launch the kernel";
    // Another block of a kernel that does not name its own is block-size's.
    made.isProven =
        made.doubt.empty() && !use.inOtherKernels && range.file.ends_with(".cu") && use.inKernel;
    if (made.values.size() > 1 && !(isSpelled && !use.otherUse.empty()))
      found_.tunables.push_back(std::move(made));
  }

  /// Powers of two for a block of one dimension, otherwise halves and doubles of the value.
  std::vector<std::int64_t> valuesOf(const std::string &name, std::int64_t value,
                                     bool isBlock) const {
    std::set<std::int64_t> values{value};
    const bool isWhole = site_.block == Axes{name, "1", "1"};
    for (std::int64_t threads = 32; isWhole && threads <= gpu::kMostThreads; threads *= 2)
      values.insert(threads);
    for (const std::int64_t factor : {2, 4}) {
      if (!isWhole && value % factor == 0)
        values.insert(value / factor);
      if (!isWhole && (!isBlock || value * factor <= gpu::kMostThreads))
        values.insert(value * factor);
    }
    return {values.begin(), values.end()};
  }

  const InferredTunable *tuned(const std::string &name) const {
    const auto found = std::ranges::find(found_.tunables, name, &InferredTunable::name);
    return found != found_.tunables.end() && found->doubt.empty() ? &*found : nullptr;
  }

  void requireExact(const std::string &text, const std::regex &quotient) {
    for (std::sregex_iterator one(text.begin(), text.end(), quotient), none; one != none; ++one)
      require(fmt::format("{} % {} == 0", (*one)[1].str(), (*one)[2].str()));
  }

  /// Blocks of n / TILE leave a remainder out, and a kernel without a guard needs whole blocks.
  void requireWholeBlocks(const std::string &axis) {
    static const std::regex kQuotient(R"(\(?(\w+)\)? / \(?(\w+)\)?)");
    if (std::regex_match(axis, kQuotient))
      return requireExact(axis, kQuotient);
    if (kernel_.sizes->guardsThreads || isName(axis))
      return;
    for (const std::string &size : namesOf(axis))
      for (const std::string &name : namesOf(axis))
        if (tuned(name) && !present_.contains(size))
          require(fmt::format("{} % {} == 0", size, name));
  }

  /// Adds a requirement that some values of the tunables do not meet, or that names what only a
  /// launch tells.
  void require(std::string text) {
    text = substituted(substituted(text, spelledAs_), parametersAt(site_, specialization_));
    std::vector<Bindings> points{present_};
    for (const std::string &name : namesOf(text))
      if (const InferredTunable *tunable = tuned(name)) {
        std::vector<Bindings> more;
        for (Bindings point : points)
          for (const std::int64_t value : tunable->values) {
            point[name] = value;
            more.push_back(point);
          }
        points = std::move(more);
      }
    const bool isOfTunables = points.size() > 1;
    const bool always = std::ranges::all_of(points, [&](const Bindings &point) {
      const auto value = evaluateExpression(text, point);
      return value && *value != 0;
    });
    if (isOfTunables && !always && std::ranges::count(found_.requirements, text) == 0)
      found_.requirements.push_back(text);
  }

  const KernelSpec &kernel_;
  const Specialization &specialization_;
  LaunchSite site_; ///< the first of the specialization; empty if there is none
  Bindings present_;
  std::map<std::string, SourceRange> ranges_;    ///< of what can be changed
  std::map<std::string, std::string> spelledAs_; ///< template parameter -> constant
  InferredTunables found_;
};

} // namespace

InferredTunables inferTunables(const KernelSpec &kernel, const Specialization &specialization,
                               const TuneDeclaration &known) {
  return kernel.sizes ? TunableFinder(kernel, specialization).find(known) : InferredTunables();
}

TuneDeclaration withProvenTunables(TuneDeclaration declaration, const KernelSpec &kernel,
                                   const Specialization &specialization,
                                   const std::vector<Launch> &launches) {
  if (!declaration.params.empty())
    return declaration;
  const InferredTunables found = inferTunables(kernel, specialization, declaration);
  const auto isTold = [&](const std::string &name) {
    return std::ranges::all_of(
        launches, [&](const Launch &launch) { return launch.bindings.contains(name); });
  };
  for (const InferredTunable &one : found.tunables) {
    std::vector<std::string> own;
    std::ranges::copy_if(found.requirements, std::back_inserter(own), [&](const auto &text) {
      return std::ranges::count(namesOf(text), one.name) > 0;
    });
    if (!one.isProven || !std::ranges::all_of(own, [&](const std::string &text) {
          return std::ranges::all_of(namesOf(text), isTold);
        }))
      continue;
    declaration.params.push_back({.name = one.name, .values = one.values});
    declaration.requirements.insert(declaration.requirements.end(), own.begin(), own.end());
  }
  return declaration;
}

} // namespace kopt
