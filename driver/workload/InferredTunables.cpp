// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/InferredTunables.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"
#include "driver/support/Text.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kMostPoints = 4096; ///< for which a requirement is tried

std::set<std::string> namesOf(const std::string &text) {
  const auto names = namesIn(text);
  return names ? std::set<std::string>(names->begin(), names->end()) : std::set<std::string>();
}

class TunableFinder {
public:
  TunableFinder(const KernelSpec &kernel, const Specialization &specialization)
      : kernel_(kernel), specialization_(specialization) {
    for (const LaunchSite &site : kernel.launches)
      if (!site_ && site.symbol == specialization.symbol &&
          site.geometry != GeometryKind::Unresolved)
        site_ = &site;
    for (const NamedConstant &constant : constantsInScope(kernel, specialization))
      if (!isHostVariable(constant.name))
        present_[constant.name] = constant.value;
  }

  InferredTunables find(const TuneDeclaration &known) {
    const auto isKnown = [&](const std::string &name) {
      return std::ranges::find(known.params, name, &TunableParam::name) != known.params.end();
    };
    takeTemplateArguments();
    for (const NamedConstant &constant : constantsInScope(kernel_, specialization_))
      if (present_.contains(constant.name) && !isKnown(constant.name))
        consider(constant.name, constant.valueRange);
    for (const TemplateArg &argument : specialization_.templateArgs)
      if (argument.integral && argument.range && !spelledAs_.contains(argument.name) &&
          !isKnown(argument.name) && !isConstant(argument.name))
        consider(argument.name, *argument.range);
    giveRequirements();
    return std::move(found_);
  }

private:
  bool isHostVariable(const std::string &name) const {
    return site_ && std::ranges::count(site_->variables, name) > 0;
  }
  bool isConstant(const std::string &name) const {
    return std::ranges::find(kernel_.constants, name, &NamedConstant::name) !=
           kernel_.constants.end();
  }
  std::string place() const {
    return fmt::format("the launch at {}:{}",
                       std::filesystem::path(site_->file).filename().string(), site_->line);
  }

  /// A template argument that is a named constant is tuned under the constant's name.
  void takeTemplateArguments() {
    for (const TemplateArg &argument : specialization_.templateArgs) {
      if (!argument.integral)
        continue;
      for (const NamedConstant &constant : kernel_.constants)
        if (argument.range == constant.valueRange)
          spelledAs_[argument.name] = constant.name;
      if (!spelledAs_.contains(argument.name))
        present_.try_emplace(argument.name, std::strtoll(argument.value.c_str(), nullptr, 0));
    }
  }

  /// All that is known of the constant, also under the names of template parameters.
  SizeUse useOf(const std::string &name) const {
    SizeUse all;
    for (const SizeUse &use : kernel_.sizes->uses) {
      const auto other = spelledAs_.find(use.name);
      if (use.name != name && (other == spelledAs_.end() || other->second != name))
        continue;
      all.inKernel |= use.inKernel;
      all.steps |= use.steps;
      all.acrossBlocks |= use.acrossBlocks;
      for (const auto member : {&SizeUse::kernelUse, &SizeUse::hostUse, &SizeUse::otherKernel})
        if ((all.*member).empty())
          all.*member = use.*member;
    }
    return all;
  }

  bool isIn(const std::array<std::string, 3> &axes, const std::string &name) const {
    return std::ranges::any_of(
        axes, [&](const std::string &axis) { return namesOf(axis).contains(name); });
  }

  void consider(const std::string &name, const SourceRange &range) {
    const SizeUse use = useOf(name);
    const std::int64_t value = present_.at(name);
    const bool isBlock = site_ && isIn(site_->block, name);
    const bool isGrid =
        site_ && kernel_.sizes->stridesGrid && std::ranges::count(site_->grid, name) > 0;
    const bool isSpelled = site_ && value > 1 && use.inKernel && !isBlock &&
                           std::ranges::count(site_->block, std::to_string(value)) > 0;
    // The number of a warp's threads is the device's.
    const bool isWarp = value == 32 && (slug(name).find("warp") != std::string::npos ||
                                        (kernel_.sizes->usesLanes && !isBlock));
    if (value < 1 || isWarp || !(isBlock || isGrid || use.steps || (isSpelled && isTemplate(name))))
      return;
    InferredTunable made{name, valuesOf(name, value, isBlock), "", "", false};
    made.reason = isBlock  ? "the block of " + place()
                  : isGrid ? "the grid of " + place()
                           : "the kernel goes on by it";
    made.doubt = doubtOf(use, isBlock, isSpelled, name);
    const bool isOfHeader = !range.file.ends_with(".cu");
    // block-size tries other blocks where the kernel does not name its own.
    made.isProven = made.doubt.empty() && use.otherKernel.empty() && !isOfHeader &&
                    kernel_.units.size() < 2 && (use.inKernel || isGrid);
    if (made.values.size() > 1)
      found_.tunables.push_back(std::move(made));
  }

  bool isTemplate(const std::string &name) const {
    return std::ranges::find(specialization_.templateArgs, name, &TemplateArg::name) !=
           specialization_.templateArgs.end();
  }

  std::string doubtOf(const SizeUse &use, bool isBlock, bool isSpelled,
                      const std::string &name) const {
    if (!use.kernelUse.empty())
      return "the kernel has another use for it: " + use.kernelUse;
    if (!use.hostUse.empty())
      return "host code has another use for it: " + use.hostUse;
    if (isSpelled)
      return fmt::format("{} spells its block in numbers: name this constant there", place());
    if (use.acrossBlocks && !(site_ && isIn(site_->grid, name)))
      return "the grid does not follow it";
    if (isBlock && !use.inKernel && !kernel_.sizes->readsBlockDim)
      return "the kernel does not read blockDim";
    return "";
  }

  std::vector<std::int64_t> valuesOf(const std::string &name, std::int64_t value,
                                     bool isBlock) const {
    std::set<std::int64_t> values{value};
    const bool isWhole =
        isBlock && site_->block[0] == name && site_->block[1] == "1" && site_->block[2] == "1";
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

  bool isTuned(const std::string &name) const {
    return std::ranges::any_of(found_.tunables, [&](const InferredTunable &one) {
      return one.name == name && one.doubt.empty();
    });
  }

  void giveRequirements() {
    std::map<std::string, std::string> names;
    for (const auto &[parameter, constant] : spelledAs_)
      names[parameter] = constant;
    for (const std::string &text : kernel_.sizes->requirements)
      require(substituted(text, names));
    for (const std::string &text : kernel_.sizes->kept) {
      const std::string renamed = substituted(text, names);
      if (const auto now = evaluateExpression(renamed, present_))
        require(fmt::format("{} == {}", renamed, *now));
    }
    if (site_)
      giveThoseOfTheLaunch();
    std::string shared;
    for (const std::string &bytes : kernel_.sizes->sharedBytes)
      shared += (shared.empty() ? "" : " + ") + substituted(bytes, names);
    if (!shared.empty())
      require(fmt::format("{} <= {}", shared, gpu::kSharedWithoutOptIn));
  }

  void giveThoseOfTheLaunch() {
    std::string threads;
    for (const std::string &axis : site_->block) {
      if (axis != "1")
        threads += (threads.empty() ? "" : " * ") + asOperand(axis);
      divideExactly(axis);
    }
    require(fmt::format("{} <= {}", threads.empty() ? "1" : threads, gpu::kMostThreads));
    const auto parameters = parametersAt(*site_, specialization_);
    for (const std::string &axis : site_->grid) {
      const auto parsed = Expression::parse(axis);
      if (!parsed)
        continue;
      const expression::Node &tree = parsed->tree();
      const bool isExact = tree.code == expression::Code::Divide &&
                           tree.parts[0].code != expression::Code::Add &&
                           tree.parts[0].code != expression::Code::Subtract;
      std::vector<std::string> sizes;
      for (const std::string &name : parsed->names())
        if (!isTuned(name))
          sizes.push_back(name);
      for (const std::string &name : parsed->names()) {
        if (!isTuned(name) || name == axis || (kernel_.sizes->guardsThreads && !isExact))
          continue;
        const std::string whole = isExact             ? plain(tree.parts[0])
                                  : sizes.size() == 1 ? sizes.front()
                                                      : "";
        if (whole.empty())
          doubt(name, "the grid is computed in another way than by a division");
        else
          require(fmt::format("{} % {} == 0", substituted(asOperand(whole), parameters),
                              isExact ? asOperand(plain(tree.parts[1])) : name));
      }
    }
  }

  void doubt(const std::string &name, const std::string &why) {
    for (InferredTunable &one : found_.tunables)
      if (one.name == name) {
        one.doubt = why;
        one.isProven = false;
      }
  }

  /// A quotient of constants in the block has to be exact.
  void divideExactly(const std::string &axis) {
    const auto parsed = Expression::parse(axis);
    const std::function<void(const expression::Node &)> visit = [&](const expression::Node &node) {
      if (node.code == expression::Code::Divide)
        require(fmt::format("{} % {} == 0", asOperand(plain(node.parts[0])),
                            asOperand(plain(node.parts[1]))));
      std::ranges::for_each(node.parts, visit);
    };
    if (parsed)
      visit(parsed->tree());
  }

  /// Adds a requirement that some values of the tunables do not meet.
  void require(const std::string &text) {
    const std::set<std::string> names = namesOf(text);
    std::vector<const InferredTunable *> tuned;
    bool isOpen = false; // it names what only a launch tells
    for (const std::string &name : names) {
      if (isTuned(name))
        tuned.push_back(&*std::ranges::find(found_.tunables, name, &InferredTunable::name));
      else
        isOpen |= !present_.contains(name);
    }
    if (tuned.empty() || std::ranges::count(found_.requirements, text) > 0)
      return;
    std::size_t points = 1;
    for (const InferredTunable *one : tuned)
      points *= one->values.size();
    bool always = !isOpen && points <= kMostPoints;
    for (std::size_t point = 0; always && point < points; ++point) {
      Bindings values = present_;
      std::size_t rest = point;
      for (const InferredTunable *one : tuned) {
        values[one->name] = one->values[rest % one->values.size()];
        rest /= one->values.size();
      }
      const auto holds = evaluateExpression(text, values);
      always = holds && *holds != 0;
    }
    if (!always)
      found_.requirements.push_back(text);
  }

  const KernelSpec &kernel_;
  const Specialization &specialization_;
  const LaunchSite *site_ = nullptr;
  Bindings present_;                             ///< values of constants and template arguments
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
  // What is not proven keeps its value, which the launches know.
  std::set<std::string> unknown;
  for (const std::string &text : found.requirements)
    for (const std::string &name : namesOf(text))
      if (!std::ranges::all_of(launches,
                               [&](const Launch &one) { return one.bindings.contains(name); }))
        unknown.merge(namesOf(text));
  for (const InferredTunable &one : found.tunables)
    if (one.isProven && !unknown.contains(one.name))
      declaration.params.push_back({.name = one.name, .values = one.values});
  for (const std::string &text : found.requirements)
    if (std::ranges::any_of(declaration.params, [&](const TunableParam &param) {
          return namesOf(text).contains(param.name);
        }))
      declaration.requirements.push_back(text);
  return declaration;
}

} // namespace kopt
