// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/DeclaredNames.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/ElementType.h"
#include "driver/support/Text.h"
#include "driver/workload/SiteValues.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

namespace kopt {
namespace {

class Missing {
public:
  explicit Missing(const LaunchQuestion &question) : question_(question) {}

  std::optional<Error> find() {
    for (std::size_t i = 0; i < question_.specialization.params.size(); ++i)
      lookAt(question_.specialization.params[i], i);
    for (const auto &axes : {question_.geometry.grid, question_.geometry.block})
      for (const std::string &text : axes)
        lookAtNames(text);
    lookAtNames(question_.geometry.sharedBytes);
    if (extents_.size() + values_.size() + structs_.size() < 2)
      return std::nullopt;
    return error();
  }

private:
  bool isNull(std::size_t param) const {
    return question_.takesNulls && question_.site && param < question_.site->args.size() &&
           isNullArgument(question_.site->args[param]);
  }

  void lookAt(const KernelParam &param, std::size_t index) {
    if (!param.members.empty()) {
      if (!question_.declaration.argumentMembers.contains(param.name))
        structs_.push_back(&param);
      return;
    }
    if (param.kind == ParamKind::Scalar && !question_.bindings.contains(param.name) &&
        !question_.declaration.arguments.contains(param.name)) {
      if (const std::string computed = computedValue(question_.site, index); !computed.empty())
        lookAtNames(computed);
      else if (!isFloating(param.scalar) || !passedReal(question_.site, index, question_.reals))
        needValue(param.name, isFloating(param.scalar));
    }
    if (param.kind != ParamKind::Pointer || isNull(index))
      return;
    const auto extent = question_.declaration.extents.find(param.name);
    const std::string allocated = allocatedElements(question_.site, index, param);
    if (extent != question_.declaration.extents.end())
      lookAtNames(extent->second);
    else if (!allocated.empty())
      lookAtNames(allocated);
    else
      extents_.push_back(param.name);
  }

  void lookAtNames(const std::string &text) {
    const auto names = namesIn(text);
    for (const std::string &name : names ? *names : std::vector<std::string>())
      if (!question_.bindings.contains(name) && !question_.declaration.arguments.contains(name))
        needValue(name, false);
  }

  void needValue(const std::string &name, bool isReal) {
    if (seen_.insert(name).second)
      values_.emplace_back(name, isReal);
  }

  Error error() const {
    std::vector<std::string> parts, clauses;
    const auto add = [&](const std::string &what, const std::vector<std::string> &names) {
      if (!names.empty())
        parts.push_back(fmt::format("{} for {}", what, join(names, ", ")));
    };
    std::vector<std::string> extents, values;
    for (const std::string &name : extents_)
      extents.push_back("'" + name + "'");
    for (const auto &[name, isReal] : values_)
      values.push_back("'" + name + "'");
    for (const KernelParam *param : structs_)
      values.push_back(fmt::format("'{}' ({})", param->name, param->type));
    add(extents.size() == 1 ? "extent" : "extents", extents);
    add(values.size() == 1 ? "value" : "values", values);
    for (const auto &[name, isReal] : values_)
      clauses.push_back(fmt::format("\"arg {} = {}\"", name, isReal ? "1.0" : "1024"));
    for (const KernelParam *param : structs_)
      clauses.push_back("\"" + membersClause(*param) + "\"");
    // The last integer parameter is a guess for the number of elements, which the user corrects.
    std::string elements = "1024";
    for (const KernelParam &param : question_.specialization.params)
      if (param.kind == ParamKind::Scalar && param.scalar.starts_with("i") &&
          elements == std::string("1024"))
        elements = param.name;
    for (const std::string &name : extents_)
      clauses.push_back(fmt::format("\"extent {} = {}\"", name, elements));
    const KernelSpec &kernel = question_.kernel;
    return {ErrorCode::Usage,
            fmt::format("kernel '{}' has no {}", kernel.name, join(parts, " and no ")),
            placeOf(kernel),
            fmt::format("add the clauses, with the numbers of your program (an extent counts "
                        "elements): {}",
                        join(clauses, ", ")),
            {}};
  }

  const LaunchQuestion &question_;
  std::vector<std::string> extents_;
  std::vector<std::pair<std::string, bool>> values_; ///< name, and whether it is floating-point
  std::vector<const KernelParam *> structs_;         ///< structs and vectors
  std::set<std::string> seen_;
};

} // namespace

std::optional<Error> whyNotDeclarable(const KernelSpec &kernel, const KernelParam &param) {
  if (param.kind != ParamKind::Struct || !param.members.empty() || param.scalar == "empty")
    return std::nullopt;
  return Error{ErrorCode::Usage,
               fmt::format("kernel '{}' takes the struct '{}' ({}) by value, which has members "
                           "other than numbers, so a clause cannot give it",
                           kernel.name, param.name, param.type),
               placeOf(kernel),
               "capture the launch from the program instead: --run './app'",
               {}};
}

std::optional<Error> missingClauses(const LaunchQuestion &question) {
  for (const KernelParam &param : question.specialization.params)
    if (auto why = whyNotDeclarable(question.kernel, param))
      return why;
  return Missing(question).find();
}

std::string membersClause(const KernelParam &param) {
  std::vector<std::string> numbers;
  for (const ParamMember &member : param.members)
    numbers.push_back(isFloating(member.scalar) ? "1.0" : "1");
  return fmt::format("arg {} = {{{}}}", param.name, join(numbers, ", "));
}

std::vector<std::string> shadowedConstants(const KernelSpec &kernel,
                                           const Specialization &specialization,
                                           const TuneDeclaration &declaration) {
  std::vector<std::string> notes;
  const auto look = [&](const std::string &clause, const std::string &name, std::int64_t given) {
    const bool isParam = std::ranges::any_of(
        specialization.params, [&](const KernelParam &param) { return param.name == name; });
    const bool isVariable = std::ranges::any_of(kernel.launches, [&](const LaunchSite &site) {
      return std::ranges::find(site.variables, name) != site.variables.end();
    });
    if (isParam || isVariable)
      return;
    for (const NamedConstant &constant : constantsInScope(kernel, specialization))
      if (constant.name == name && constant.value != given)
        notes.push_back(fmt::format(
            "note: {} gives {} = {}, in place of the program's constant {} = {} ({}:{})", clause,
            name, given, name, constant.value, constant.valueRange.file, constant.line));
  };
  for (const DeclaredLaunch &launch : declaration.launches)
    for (const auto &[name, value] : launch.arguments)
      look("launch " + launch.name, name, value);
  for (const auto &[name, text] : declaration.arguments)
    if (const auto value = evaluateExpression(text, {}))
      look("arg " + name, name, *value);
  return notes;
}

} // namespace kopt
