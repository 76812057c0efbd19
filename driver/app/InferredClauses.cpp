// SPDX-License-Identifier: Apache-2.0
#include "driver/app/InferredClauses.h"

#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/support/Text.h"
#include "driver/workload/DeclaredNames.h"
#include "driver/workload/InferredTunables.h"
#include "driver/workload/SiteValues.h"
#include "driver/workload/WorkloadBuilder.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <regex>
#include <set>

namespace kopt {
namespace {

class Inference {
public:
  Inference(const KernelSpec &kernel, const Specialization &specialization,
            const TuneDeclaration &known)
      : kernel_(kernel), specialization_(specialization), known_(known) {
    for (const LaunchSite &site : kernel.launches)
      if (!site_ && site.symbol == specialization.symbol &&
          site.geometry != GeometryKind::Unresolved)
        site_ = &site;
    for (const auto &[name, text] : known.arguments)
      if (const auto value = evaluateExpression(text, {}))
        arguments_[name] = *value;
  }

  std::vector<InferredClause> infer() {
    findSizes();
    giveValues();
    giveSizes();
    giveRequirements();
    giveExtents();
    giveTunables();
    return std::move(clauses_);
  }

private:
  std::string place() const {
    return site_ ? fmt::format("the launch at {}:{}",
                               std::filesystem::path(site_->file).filename().string(), site_->line)
                 : "no launch";
  }
  std::map<std::string, std::int64_t> bindings() const { return bindings(arguments_); }
  std::map<std::string, std::int64_t>
  bindings(const std::map<std::string, std::int64_t> &arguments) const {
    return bindingsAtSite(kernel_, specialization_, site_ ? *site_ : LaunchSite(), arguments);
  }

  /// The parameter that a host variable is passed for; the variable itself if there is none.
  std::string asParameter(const std::string &variable) const {
    for (std::size_t i = 0; site_ && i < site_->args.size(); ++i)
      if (site_->args[i] == variable && i < specialization_.params.size() &&
          specialization_.params[i].kind == ParamKind::Scalar)
        return specialization_.params[i].name;
    return variable;
  }

  /// Collects the names that the block depends on, and the others that the grid depends on.
  void findSizes() {
    if (!site_)
      return;
    const auto known = bindingsAtSite(kernel_, specialization_, *site_, {});
    for (const std::string &axis : site_->block)
      if (const auto names = namesIn(axis))
        for (const std::string &name : *names)
          if (!known.contains(name) &&
              std::ranges::find(threads_, asParameter(name)) == threads_.end())
            threads_.push_back(asParameter(name));
    for (const std::string &axis : site_->grid)
      if (const auto names = namesIn(axis))
        for (const std::string &name : *names)
          if (const std::string size = asParameter(name);
              !known.contains(name) && std::ranges::find(sizes_, size) == sizes_.end() &&
              std::ranges::find(threads_, size) == threads_.end())
            sizes_.push_back(size);
  }

  /// A value for a name that the block depends on, with which a GPU can launch it: the first name
  /// gets all the threads.
  std::int64_t threadsFor(const std::string &name) const {
    if (name != threads_.front())
      return 1;
    for (const std::int64_t value : {128, 32, 16, 8, 4, 2}) {
      auto arguments = arguments_;
      for (const std::string &other : threads_)
        arguments[other] = other == name ? value : 1;
      const auto geometry =
          evaluateGeometry({{"1", "1", "1"}, site_->block, "0"},
                           bindingsAtSite(kernel_, specialization_, *site_, arguments));
      if (geometry && geometry->block.z <= gpu::kMostThreadsInZ &&
          std::uint64_t(geometry->block.x) * geometry->block.y * geometry->block.z <=
              gpu::kMostThreads)
        return value;
    }
    return 1;
  }

  /// The integer parameter of the kernel, if there is one alone: its name, or its value where no
  /// clause gives that. A guessed grid has a thread for each.
  std::string itemCount() const {
    std::string found;
    for (const KernelParam &param : specialization_.params)
      if (param.kind == ParamKind::Scalar && !isFloating(param.scalar))
        found = found.empty() ? param.name : " ";
    const auto known = bindings();
    return given_.contains(found) || known_.arguments.contains(found) ? found
           : known.contains(found) ? std::to_string(known.at(found))
                                   : "";
  }

  /// `counts`: a parameter is computed from it.
  void giveValue(const std::string &name, bool real, const std::string &passed,
                 bool counts = false) {
    if (known_.arguments.contains(name) || !given_.insert(name).second)
      return;
    for (std::size_t i = 0; passed.empty() && i < specialization_.params.size(); ++i)
      if (const std::string &param = specialization_.params[i].name;
          param != name && computedValue(site_, i) == name) {
        clauses_.push_back({fmt::format("arg {} = {}", name, param), "as " + place() + " has it"});
        return;
      }
    static const std::regex kNumber(R"(([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)[fFlLuU]*)");
    if (std::smatch number; std::regex_match(passed, number, kNumber)) {
      clauses_.push_back(
          {fmt::format("arg {} = {}", name, number[1].str()), "as " + place() + " has it", false});
      return;
    }
    const bool isOfBlock = std::ranges::find(threads_, name) != threads_.end();
    const bool isBlocks = site_ && passed.empty() && std::ranges::count(site_->grid, name) != 0;
    const bool isCall = name.ends_with(")") && !numbers_.empty() && !counts;
    std::string count = isBlocks && name == site_->grid[0] ? itemCount() : "";
    if (!count.empty()) {
      clauses_.push_back({fmt::format("arg {} = ({} + {} - 1) / {}", name, count, site_->block[0],
                                      site_->block[0]),
                          fmt::format("not known here: a thread for each of {}", count), true});
      whole_ = std::move(count);
      return;
    }
    hasBlocks_ |= isBlocks;
    if (!real && !isCall && !isOfBlock && !isBlocks)
      numbers_.push_back(name);
    arguments_[name] = isOfBlock  ? threadsFor(name)
                       : isBlocks ? (name == site_->grid[0] ? 8 : 1)
                                  : 1024;
    clauses_.push_back({fmt::format("arg {} = {}", name,
                                    real                    ? "1.0"
                                    : isOfBlock || isBlocks ? std::to_string(arguments_[name])
                                    : isCall                ? join(numbers_, " * ")
                                                            : ""),
                        fmt::format("not known here: {} {}", place(),
                                    passed.empty() ? "uses it" : "passes " + passed),
                        true});
  }

  /// Sizes that fit each other (host.size() is a product of others), of a short launch.
  void giveSizes() {
    static constexpr std::int64_t kSizes[] = {1024, 1 << 20, 1024, 128};
    const auto value = kSizes[sizes_.empty() ? 0 : std::min<std::size_t>(numbers_.size(), 3)];
    for (const std::string &name : numbers_) {
      arguments_[name] = value;
      if (std::ranges::find(sizes_, name) == sizes_.end())
        sizes_.push_back(name);
    }
    // What others divide is their product: of size = 1024 and rows = size / 1024 there is one row.
    for (const KernelParam &param : specialization_.params)
      for (const std::string &name : numbers_) {
        auto larger = arguments_;
        larger[name] *= value;
        const auto now = bindings(), then = bindings(larger);
        if (now.contains(param.name) && now.at(param.name) < 2 && then.at(param.name) > 1) {
          arguments_ = larger;
          whole_ = name;
        }
      }
    for (InferredClause &clause : clauses_)
      if (clause.text.ends_with("= "))
        clause.text += std::to_string(arguments_[clause.text.substr(4, clause.text.size() - 7)]);
  }

  void giveValues() {
    const auto known = bindings();
    for (std::size_t i = 0; i < specialization_.params.size(); ++i) {
      const KernelParam &param = specialization_.params[i];
      if (!param.members.empty() && !known_.argumentMembers.contains(param.name))
        clauses_.push_back({membersClause(param), "not known here: a " + param.type, true});
      if (param.kind != ParamKind::Scalar || known.contains(param.name))
        continue;
      const std::string passed = site_ && i < site_->args.size() ? site_->args[i] : "";
      const std::string computed = computedValue(site_, i);
      const auto names = namesIn(computed);
      if (!names || names->empty() || isName(computed)) {
        giveValue(param.name, isFloating(param.scalar), passed);
        continue;
      }
      std::erase(sizes_, param.name); // it follows from these
      for (const std::string &name : *names)
        if (!known.contains(name))
          giveValue(asParameter(name), false, "", true);
    }
    if (!site_)
      return;
    // Names that follow from the parameters need no clause.
    const auto follow = bindings();
    std::vector<std::string> texts{site_->sharedBytes};
    for (std::size_t i = 0; i < specialization_.params.size(); ++i)
      texts.push_back(allocatedElements(site_, i, specialization_.params[i]));
    for (const auto &axes : {site_->grid, site_->block})
      texts.insert(texts.end(), axes.begin(), axes.end());
    for (const std::string &text : texts)
      if (const auto names = namesIn(text))
        for (const std::string &name : *names)
          if (!follow.contains(name))
            giveValue(name, false, "");
  }

  void giveTunables() {
    const InferredTunables found = inferTunables(kernel_, specialization_, known_);
    for (const InferredTunable &one : found.tunables)
      clauses_.push_back({fmt::format("param {} in {{{}}}", one.name, fmt::join(one.values, ", ")),
                          one.doubt.empty() ? one.reason : one.reason + "; " + one.doubt, false,
                          !one.doubt.empty()});
    for (const std::string &text : found.requirements)
      if (const std::string clause = "require " + text;
          std::ranges::count(known_.requirements, text) == 0 &&
          std::ranges::find(clauses_, clause, &InferredClause::text) == clauses_.end())
        clauses_.push_back({clause, "the kernel and its launch need it", false});
  }

  /// A grid of n / 128 blocks does not cover a remainder of n, so the program must have none.
  void giveRequirements() {
    static const std::regex kExact(R"(\(?\s*(\w+)\s*\)?\s*/\s*\(?\s*(\w+)\s*\)?)");
    if (!site_)
      return;
    for (const std::string &axis : site_->grid) {
      std::smatch parts;
      if (!std::regex_match(axis, parts, kExact) || std::isdigit(parts[1].str()[0]))
        continue;
      const std::string text =
          fmt::format("{} % {} == 0", asParameter(parts[1]), asParameter(parts[2]));
      if (std::ranges::find(known_.requirements, text) == known_.requirements.end())
        clauses_.push_back({"require " + text, place() + " has no block for a remainder", false});
    }
  }

  /// The numbers that belong to the object from which the pointer comes: for "m.data()" the
  /// parameter that is "m.size()".
  std::string besideOf(const std::string &root) const {
    const std::size_t end = root.find_first_of(".-");
    std::vector<std::string> found;
    if (end == root.npos)
      return "";
    for (std::size_t i = 0; i < specialization_.params.size() && i < site_->values.size(); ++i)
      if (isName(site_->values[i]) && site_->values[i].starts_with(root.substr(0, end + 1)))
        found.push_back(specialization_.params[i].name);
    for (const std::string &name : found.empty() ? numbers_ : std::vector<std::string>())
      if (name.starts_with(root.substr(0, end + 1)))
        found.push_back(name);
    return join(found, " * ");
  }

  void giveExtents() {
    std::string elements = whole_.empty() ? join(sizes_, " * ") : whole_;
    if (hasBlocks_ && numbers_.empty() && whole_.empty()) // nothing else says how many
      for (const std::string &threads : site_->block)
        elements += threads == "1" ? "" : " * (" + threads + ")";
    if (elements.empty() && site_) {
      const auto geometry = evaluateGeometry({site_->grid, site_->block, "0"}, bindings());
      if (geometry)
        elements = std::to_string(geometry->grid.count() * geometry->block.count());
    }
    if (elements.empty())
      elements = "1024";
    for (std::size_t i = 0; i < specialization_.params.size(); ++i) {
      const KernelParam &param = specialization_.params[i];
      const bool isNull = site_ && i < site_->args.size() && isNullArgument(site_->args[i]);
      if (param.kind != ParamKind::Pointer || isNull || known_.extents.contains(param.name))
        continue;
      const std::string allocated = allocatedElements(site_, i, param);
      const std::string beside =
          site_ && i < site_->pointers.size() ? besideOf(site_->pointers[i].root) : "";
      if (!allocated.empty())
        clauses_.push_back({fmt::format("extent {} = {}", param.name, allocated),
                            "as the function of " + place() + " allocates it", false});
      else
        clauses_.push_back(
            {fmt::format("extent {} = {}", param.name, beside.empty() ? elements : beside),
             "a guess: the number of its elements", true});
    }
  }

  const KernelSpec &kernel_;
  const Specialization &specialization_;
  const TuneDeclaration &known_;
  const LaunchSite *site_ = nullptr;
  std::vector<std::string> sizes_, numbers_; ///< of the grid; integers whose values are guesses
  std::vector<std::string> threads_;
  std::string whole_;      ///< the number of all elements, where one is known
  bool hasBlocks_ = false; ///< a number of blocks is a guess
  std::map<std::string, std::int64_t> arguments_;
  std::set<std::string> given_;
  std::vector<InferredClause> clauses_;
};

/// The text as a basic string of TOML: quotes and backslashes are escaped.
std::string quoted(const std::string &text) {
  return "\"" + replaceAll(replaceAll(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

} // namespace

std::vector<InferredClause> inferClauses(const KernelSpec &kernel,
                                         const Specialization &specialization,
                                         const TuneDeclaration &known) {
  return Inference(kernel, specialization, known).infer();
}

std::string clauseTable(const std::string &kernel, const std::vector<InferredClause> &clauses) {
  std::size_t width = 0;
  for (const InferredClause &clause : clauses)
    width = std::max(width, quoted(clause.text).size() + 1);
  std::string text = fmt::format("[[kernel]]\nname = {}\nclauses = [\n", quoted(kernel));
  for (const InferredClause &clause : clauses)
    text +=
        fmt::format("  {}{:<{}} # {}{}\n", clause.isDoubt ? "# " : "", quoted(clause.text) + ",",
                    width, clause.isGuess ? "check: " : "", replaceAll(clause.comment, "\n", " "));
  return text + "]\n";
}

} // namespace kopt
