// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CandidateLaunch.h"

#include "clang_plugin/output/Variants.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

using expression::Code;
using expression::Node;
using Axes = std::array<std::string, 3>;
using Names = std::map<std::string, std::string>;

/// A launch site of the original, and the one in its place in the candidate's file.
struct SitePair {
  const LaunchSite *before, *after;
};

const Specialization *withSymbol(const KernelSpec &kernel, const std::string &symbol) {
  for (const Specialization &specialization : kernel.specializations)
    if (specialization.symbol == symbol)
      return &specialization;
  return nullptr;
}

const Specialization *withExpression(const KernelSpec &kernel, const std::string &expression) {
  for (const Specialization &specialization : kernel.specializations)
    if (specialization.expression == expression)
      return &specialization;
  return nullptr;
}

std::string expressionAt(const KernelSpec &kernel, const LaunchSite &site) {
  const Specialization *launched = withSymbol(kernel, site.symbol);
  return launched ? launched->expression : "";
}

/// Pairs launch sites in order if both files have the same number of launches of the kernel.
/// Otherwise uses the candidate's launches of new instantiations, or those of the same one if there
/// are no new ones.
std::vector<SitePair> pairsOf(const TuneSubject &subject, const KernelSpec &changed) {
  std::vector<const LaunchSite *> before, after;
  const std::vector<LaunchSite> &all = subject.kernel.launches;
  const bool byOrder = all.size() == changed.launches.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].symbol == subject.specialization.symbol) {
      before.push_back(&all[i]);
      if (byOrder)
        after.push_back(&changed.launches[i]);
    }
  if (!byOrder) {
    std::vector<const LaunchSite *> same, added;
    for (const LaunchSite &site : changed.launches) {
      const std::string expression = expressionAt(changed, site);
      if (expression == subject.specialization.expression)
        same.push_back(&site);
      else if (!withExpression(subject.kernel, expression))
        added.push_back(&site);
    }
    after = added.empty() ? same : added;
  }
  std::vector<SitePair> pairs;
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i)
    if (!before.empty() && !after.empty())
      pairs.push_back(
          {before[std::min(i, before.size() - 1)], after[std::min(i, after.size() - 1)]});
  return pairs;
}

bool contains(const std::vector<std::string> &list, const std::string &name) {
  return std::ranges::count(list, name) > 0;
}

std::optional<std::int64_t> integerOf(const std::string &text) {
  if (text == "true" || text == "false")
    return text == "true";
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  if (error != std::errc() || suffix.find_first_not_of("uUlL") != suffix.npos)
    return std::nullopt;
  return value;
}

class LaunchTaker {
public:
  LaunchTaker(const TuneSubject &subject, const KernelSpec &changed, const Specialization &other,
              Candidate &candidate)
      : subject_(subject), own_(subject.specialization), changed_(changed), other_(other),
        candidate_(candidate), pairs_(pairsOf(subject, changed)) {}

  std::optional<std::string> take() {
    for (const SitePair &pair : pairs_)
      if (pair.after->symbol != other_.symbol)
        return fmt::format("the candidate launches {} ({}) and {} ({}) where the original launches "
                           "only {}; put each into its own file",
                           other_.expression, placeOf(*pairs_.front().after),
                           expressionAt(changed_, *pair.after), placeOf(*pair.after),
                           own_.expression);
    if (auto refusal = takeTemplateArguments())
      return refusal;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      LaunchOverride taken;
      if (auto refusal = takeGeometry(pairs_[i], taken))
        return refusal;
      LaunchOverride &known = candidate_.launch;
      if (i > 0 && (known.grid != taken.grid || known.block != taken.block ||
                    known.sharedBytes != taken.sharedBytes))
        return fmt::format("the candidate changes its launches at {} and {} differently; change "
                           "both in the same way",
                           placeOf(*pairs_.front().after), placeOf(*pairs_[i].after));
      known = taken;
    }
    return std::nullopt;
  }

private:
  /// The place where the candidate's file instantiates the kernel.
  std::string where() const {
    return pairs_.empty() ? placeOf(changed_) : placeOf(*pairs_.front().after);
  }

  std::optional<std::string> takeTemplateArguments() {
    const auto refuse = [&](const std::string &why) {
      return fmt::format("the candidate instantiates {} ({}) in place of {}: {}", other_.expression,
                         where(), own_.expression, why);
    };
    if (own_.templateArgs.size() != other_.templateArgs.size())
      return refuse("the kernel's template parameters differ from the original's; keep those");
    const std::vector<NamedConstant> named = constantsInScope(subject_.kernel, own_);
    for (std::size_t i = 0; i < own_.templateArgs.size(); ++i) {
      const TemplateArg &before = own_.templateArgs[i], &after = other_.templateArgs[i];
      if (before.value == after.value)
        continue;
      const auto value = integerOf(after.value);
      if (!before.integral || !after.integral || !value)
        return refuse(fmt::format("only integral template arguments may change, but '{}' is {}",
                                  before.name, after.value));
      const auto sameName = std::ranges::find(named, before.name, &NamedConstant::name);
      const auto spelled = candidate_.constants.find(before.name);
      if (sameName != named.end() &&
          (spelled == candidate_.constants.end() ? sameName->value : spelled->second) != *value)
        return refuse(fmt::format("'{}' is a constant of the file as well, with another value; "
                                  "give the template parameter another name in both files",
                                  before.name));
      candidate_.constants[before.name] = *value;
    }
    return std::nullopt;
  }

  /// The texts that replace the names of the candidate's launch site in its expressions.
  Names namesAt(const SitePair &pair) const {
    Names names = parametersAt(*pair.after, other_);
    std::set<std::string> known;
    for (const NamedConstant &constant : constantsInScope(subject_.kernel, own_))
      if (!contains(pair.before->variables, constant.name))
        known.insert(constant.name);
    for (const NamedConstant &constant : constantsInScope(changed_, other_))
      if (!known.contains(constant.name) && !contains(pair.after->variables, constant.name))
        names[constant.name] = constant.value < 0 ? fmt::format("({})", constant.value)
                                                  : std::to_string(constant.value);
    return names;
  }

  /// A host variable with the name of a parameter that it is not passed for would be confused with
  /// that parameter: returns the refusal.
  std::optional<std::string> ambiguousName(const LaunchSite &site, const Names &names) const {
    for (const std::string &variable : site.variables)
      for (const KernelParam &param : other_.params)
        if (param.name == variable && param.kind == ParamKind::Scalar && !names.contains(variable))
          return fmt::format("the candidate's launch ({}) depends on '{}', which is not one of its "
                             "arguments but has the name of a parameter; give it another name",
                             placeOf(site), variable);
    return std::nullopt;
  }

  std::optional<std::string> takeGeometry(const SitePair &pair, LaunchOverride &taken) const {
    const LaunchSite &before = *pair.before, &after = *pair.after;
    const Names old = parametersAt(before, own_), names = namesAt(pair);
    const auto unread = [&](const char *what, bool wasRead, const std::optional<SourceRange> &was,
                            const std::optional<SourceRange> &is) -> std::optional<std::string> {
      if (!wasRead && spelledAlike(was, is))
        return std::nullopt; // a clause gives it
      return fmt::format("the {} of the candidate's launch ({}) could not be read{}", what,
                         placeOf(after), after.reason ? ": " + *after.reason : "");
    };
    if (after.grid[0].empty()) {
      if (auto refusal = unread("grid", !before.grid[0].empty(), before.gridRange, after.gridRange))
        return refusal;
    } else if (substituted(before.grid, old) != substituted(after.grid, names)) {
      taken.grid = substituted(after.grid, names);
    }
    if (after.block[0].empty()) {
      if (auto refusal =
              unread("block", !before.block[0].empty(), before.blockRange, after.blockRange))
        return refusal;
    } else if (substituted(before.block, old) != substituted(after.block, names)) {
      taken.block = substituted(after.block, names);
    }
    if (after.sharedBytes.empty()) {
      if (auto refusal = unread("dynamic shared memory", !before.sharedBytes.empty(),
                                before.sharedRange, after.sharedRange))
        return refusal;
    } else if (const std::string bytes = substituted(after.sharedBytes, names);
               bytes != substituted(before.sharedBytes, old)) {
      taken.sharedBytes = bytes;
    }
    const bool isChanged = taken.grid || taken.block || taken.sharedBytes;
    return isChanged ? ambiguousName(after, names) : std::nullopt;
  }

  static bool spelledAlike(const std::optional<SourceRange> &one,
                           const std::optional<SourceRange> &other) {
    if (!one || !other)
      return !one && !other;
    const Result<std::string> a = readFile(one->file), b = readFile(other->file);
    return a && b && one->end <= a->size() && other->end <= b->size() &&
           a->substr(one->begin, one->end - one->begin) ==
               b->substr(other->begin, other->end - other->begin);
  }

  const TuneSubject &subject_;
  const Specialization &own_;
  const KernelSpec &changed_;
  const Specialization &other_;
  Candidate &candidate_;
  const std::vector<SitePair> pairs_;
};

/// What a grid of `(items + block - 1) / block` or `(items + 255) / 256` covers; nothing for a grid
/// of another form.
std::optional<std::string> itemsOf(const std::string &grid, const std::string &block) {
  const auto parsed = Expression::parse(grid), threads = Expression::parse(block);
  if (!parsed || !threads || parsed->tree().code != Code::Divide ||
      plain(parsed->tree().parts[1]) != plain(threads->tree()))
    return std::nullopt;
  const Node *sum = &parsed->tree().parts[0];
  const bool isLess = sum->code == Code::Subtract && plain(sum->parts[1]) == "1";
  sum = isLess ? &sum->parts[0] : sum;
  if (sum->code != Code::Add)
    return std::nullopt;
  const Node &added = sum->parts[1];
  const bool isRounded = isLess ? plain(added) == plain(threads->tree())
                                : added.code == Code::Integer &&
                                      plain(threads->tree()) == std::to_string(added.integer + 1);
  return isRounded ? std::optional(printed(sum->parts[0])) : std::nullopt;
}

const LaunchSite *launchOf(const KernelSpec &kernel, const Specialization &specialization) {
  for (const LaunchSite &launch : kernel.launches)
    if (launch.symbol == specialization.symbol)
      return &launch;
  return kernel.launches.empty() ? nullptr : &kernel.launches.front();
}

} // namespace

std::vector<NamedConstant> constantsInScope(const KernelSpec &kernel,
                                            const Specialization &specialization) {
  const LaunchSite *site = launchOf(kernel, specialization);
  std::map<std::string, NamedConstant> chosen;
  const auto distance = [&](const NamedConstant &constant) -> std::uint64_t {
    if (site && constant.valueRange.file == site->file && constant.line <= site->line)
      return site->line - constant.line;
    return std::uint64_t(1) << 32;
  };
  for (const NamedConstant &constant : kernel.constants) {
    const auto [entry, isNew] = chosen.try_emplace(constant.name, constant);
    if (!isNew && distance(constant) < distance(entry->second))
      entry->second = constant;
  }
  std::vector<NamedConstant> result;
  for (const auto &[name, constant] : chosen)
    result.push_back(constant);
  return result;
}

std::map<std::string, std::string> parametersAt(const LaunchSite &site,
                                                const Specialization &specialization) {
  Names names;
  for (std::size_t i = 0; i < specialization.params.size() && i < site.args.size(); ++i)
    if (specialization.params[i].kind == ParamKind::Scalar && isName(site.args[i]))
      names.try_emplace(site.args[i], specialization.params[i].name);
  return names;
}

Result<std::string> textOf(const SourceRange &range) {
  KOPT_TRY(const std::string file, readFile(range.file));
  if (range.end > file.size() || range.begin > range.end)
    return makeError(ErrorCode::StaleInput, range.file + " changed since it was read",
                     "run kopt again");
  return file.substr(range.begin, range.end - range.begin);
}

Result<SourceRange> calleeAt(const LaunchSite &site) {
  KOPT_TRY(const std::string file, readFile(site.file));
  std::size_t begin = 0;
  for (unsigned line = 1; line < site.line && begin != file.npos; ++line)
    begin = file.find('\n', begin) + 1;
  begin += site.column - 1;
  const std::size_t end = file.find("<<<", begin);
  if (site.column == 0 || begin >= file.size() || end == file.npos || !site.gridRange ||
      end > site.gridRange->begin)
    return makeError(ErrorCode::Usage,
                     "the launch is not written with <<< >>>, so nothing can be put before it",
                     "write it so, with the kernel's name", placeOf(site));
  return SourceRange{site.file, begin, end};
}

const Specialization *counterpart(const TuneSubject &subject, const KernelSpec &changed) {
  const Specialization &own = subject.specialization;
  if (const std::vector<SitePair> pairs = pairsOf(subject, changed); !pairs.empty())
    if (const Specialization *launched = withSymbol(changed, pairs.front().after->symbol))
      return launched;
  if (const Specialization *same = withSymbol(changed, own.symbol))
    return same;
  if (const Specialization *same = withExpression(changed, own.expression))
    return same;
  const std::vector<Specialization> &all = subject.kernel.specializations;
  for (std::size_t i = 0; i < all.size() && i < changed.specializations.size(); ++i)
    if (all[i].symbol == own.symbol)
      return &changed.specializations[i];
  return nullptr;
}

std::optional<std::string> takeLaunch(const TuneSubject &subject, const KernelSpec &changed,
                                      const Specialization &other, Candidate &candidate) {
  return LaunchTaker(subject, changed, other, candidate).take();
}

Dim3 blockIn(const LaunchOverride &launch) {
  const auto number = [&](std::size_t axis) {
    return std::uint32_t(std::strtoul((*launch.block)[axis].c_str(), nullptr, 10));
  };
  return {number(0), number(1), number(2)};
}

bool writeNaturally(const LaunchSite &site, const Dim3 &block, LaunchOverride &launch) {
  bool isRounded = true;
  const auto made = [&](const Dim3 &dim) {
    Axes grid = site.grid;
    const std::uint32_t threads[] = {dim.x, dim.y, dim.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string &old = site.block[axis], before = grid[axis];
      const auto items = itemsOf(before, old);
      if (items && threads[axis] == 1)
        grid[axis] = *items;
      else if (items || old != std::to_string(threads[axis])) {
        isRounded &= items.has_value();
        grid[axis] = fmt::format("({} + {}) / {}", items.value_or(before + " * " + old),
                                 threads[axis] - 1, threads[axis]);
      }
    }
    return grid;
  };
  launch.grid = made(block);
  launch.block = {std::to_string(block.x), std::to_string(block.y), std::to_string(block.z)};
  return isRounded;
}

bool isNatural(const LaunchSite &site, const LaunchOverride &launch) {
  if (!launch.grid || !launch.block)
    return false;
  LaunchOverride natural;
  writeNaturally(site, blockIn(launch), natural);
  return natural.grid == launch.grid;
}

LaunchSite withLaunch(LaunchSite site, const LaunchOverride &launch) {
  const Names own = dimensionsOf(site.grid, site.block);
  for (const auto &[from, to] : {std::pair(&launch.grid, &site.grid), {&launch.block, &site.block}})
    for (std::size_t axis = 0; axis < 3 && *from; ++axis)
      (*to)[axis] = (*to)[axis].empty() ? "" : substituted((**from)[axis], own);
  return site;
}

std::optional<LaunchOverride> coveredLaunch(const LaunchOverride &launch) {
  if (!launch.grid || !launch.block)
    return std::nullopt;
  LaunchOverride covered{Axes(), Axes()};
  const Dim3 block = blockIn(launch);
  const std::uint32_t threads[] = {block.x, block.y, block.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto grid = Expression::parse((*launch.grid)[axis]);
    if (!grid || (*launch.block)[axis] != std::to_string(threads[axis]))
      return std::nullopt;
    const std::string number = (*launch.block)[axis];
    const Node *product = &grid->tree();
    if (threads[axis] > 1) {
      const bool isRounded = product->code == Code::Divide && plain(product->parts[1]) == number &&
                             product->parts[0].code == Code::Add &&
                             plain(product->parts[0].parts[1]) == std::to_string(threads[axis] - 1);
      product = isRounded ? &product->parts[0].parts[0] : nullptr;
    }
    if (!product || product->code != Code::Multiply)
      return std::nullopt;
    (*covered.grid)[axis] = plain(product->parts[0]);
    (*covered.block)[axis] = plain(product->parts[1]);
  }
  return covered;
}

void coverThreads(LaunchOverride &launch) {
  const Dim3 block = blockIn(launch);
  launch.grid = coveringGrid({block.x, block.y, block.z});
}

bool isCovering(const LaunchOverride &launch) {
  if (!launch.grid || !launch.block)
    return false;
  LaunchOverride covering = launch;
  coverThreads(covering);
  return covering.grid == launch.grid;
}

std::map<std::string, std::string> dimensionsOf(const std::array<std::string, 3> &grid,
                                                const std::array<std::string, 3> &block) {
  std::map<std::string, std::string> texts;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const auto &[name, text] : {std::pair("gridDim.", grid[axis]), {"blockDim.", block[axis]}})
      if (!text.empty())
        texts[std::string(name) + "xyz"[axis]] = asOperand(text);
  return texts;
}

LaunchOverride composed(const LaunchOverride &earlier, const LaunchOverride &later) {
  const Names names = dimensionsOf(earlier.grid.value_or(Axes()), earlier.block.value_or(Axes()));
  const auto inTerms = [&](std::string text) {
    text = substituted(text, names);
    const auto value = evaluateExpression(text, {});
    return value ? std::to_string(*value) : text;
  };
  LaunchOverride result = earlier;
  for (const auto &[from, to] :
       {std::pair(&later.grid, &result.grid), {&later.block, &result.block}})
    if (*from)
      *to = {inTerms((**from)[0]), inTerms((**from)[1]), inTerms((**from)[2])};
  if (later.sharedBytes)
    result.sharedBytes = inTerms(*later.sharedBytes);
  return result;
}

bool dividesBlocks(const KernelSpec &kernel, const Specialization &specialization,
                   const LaunchOverride &launch) {
  for (const std::string &text : launch.block.value_or(Axes())) {
    const auto parsed = Expression::parse(text);
    if (!parsed || parsed->tree().code != Code::Divide)
      continue;
    const std::string rest = fmt::format("({}) % ({})", printed(parsed->tree().parts[0]),
                                         printed(parsed->tree().parts[1]));
    for (const LaunchSite &site : kernel.launches) {
      if (site.symbol != specialization.symbol)
        continue;
      Bindings values;
      for (const NamedConstant &constant : constantsInScope(kernel, specialization))
        if (!contains(site.variables, constant.name))
          values[constant.name] = constant.value;
      const auto left =
          evaluateExpression(substituted(rest, dimensionsOf(site.grid, site.block)), values);
      if (!left || *left != 0)
        return false;
    }
  }
  return true;
}

} // namespace kopt
