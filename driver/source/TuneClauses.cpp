// SPDX-License-Identifier: Apache-2.0
#include "driver/source/TuneClauses.h"

#include "driver/source/Expression.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace kopt {
namespace {

constexpr std::size_t kMaxValues = 4096; ///< of one tunable; more means a mistake in the range

/// Splits at commas outside parentheses, braces and brackets.
std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text) {
    depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      parts.emplace_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.emplace_back(trim(part));
  return parts;
}

/// Splits "name = value" at the first '='; the name is empty if there is none, or if it is part of
/// "==".
std::pair<std::string, std::string> splitAssignment(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=')
      continue;
    if (i + 1 < text.size() && text[i + 1] == '=')
      break;
    return {std::string(trim(text.substr(0, i))), std::string(trim(text.substr(i + 1)))};
  }
  return {"", std::string(trim(text))};
}

std::string takeWord(std::string_view &text) {
  text = trim(text);
  std::size_t end = text.find_first_of(" \t\n");
  std::string word(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view() : trim(text.substr(end));
  return word;
}

std::optional<double> parseReal(std::string_view text) {
  std::string copy(trim(text));
  char *end = nullptr;
  errno = 0;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end || errno == ERANGE || !std::isfinite(value))
    return std::nullopt;
  return value;
}

class ClauseParser {
public:
  ClauseParser(TuneDeclaration &out, const TuneClause &clause) : out_(out), clause_(clause) {}

  Status parse() {
    using Method = Status (ClauseParser::*)(std::string_view);
    static const std::vector<std::pair<std::string, Method>> kClauses = {
        {"param", &ClauseParser::param},         {"require", &ClauseParser::require},
        {"block", &ClauseParser::block},         {"grid", &ClauseParser::grid},
        {"arg", &ClauseParser::argument},        {"extent", &ClauseParser::extent},
        {"fill", &ClauseParser::fill},           {"launch", &ClauseParser::launch},
        {"tolerance", &ClauseParser::tolerance}, {"target", &ClauseParser::target}};
    std::string_view rest = clause_.text;
    const std::string keyword = takeWord(rest);
    std::vector<std::string> known;
    for (const auto &[name, method] : kClauses) {
      if (name == keyword)
        return (this->*method)(rest);
      known.push_back(name);
    }
    std::string hint = didYouMean(keyword, known);
    return fail(keyword.empty() ? "an empty clause" : "unknown clause '" + keyword + "'",
                hint.empty() ? "known clauses: " + join(known, ", ") : hint);
  }

private:
  tl::unexpected<Error> fail(const std::string &what, const std::string &hint = {}) const {
    return makeError(ErrorCode::Usage, what, hint,
                     clause_.file + ":" + std::to_string(clause_.line));
  }
  /// An error of an expression, with the clause's place.
  tl::unexpected<Error> fail(const std::string &prefix, const Error &error) const {
    return fail(prefix + ": " + error.what, error.hint);
  }

  Status checkExpression(const std::string &of, const std::string &text) const {
    auto names = namesIn(text);
    return names ? Status() : fail(of, names.error());
  }

  Result<std::int64_t> constant(const std::string &of, const std::string &text) const {
    auto value = evaluateExpression(text, {});
    if (!value)
      return fail(of, value.error());
    return *value;
  }

  Status param(std::string_view rest) {
    const std::string name = takeWord(rest);
    const std::string of = "param " + name;
    if (!isName(name) || takeWord(rest) != "in")
      return fail("malformed param clause", "write param NAME in {8, 16}, param NAME in 32..256 "
                                            "step 32 or param NAME in 1..16 pow2");
    for (const TunableParam &other : out_.params)
      if (other.name == name)
        return fail(of + " is declared twice", "the other is at " + other.clause.file + ":" +
                                                   std::to_string(other.clause.line));
    std::vector<std::int64_t> values;
    if (!rest.empty() && rest.front() == '{') {
      KOPT_TRY(values, listValues(of, rest));
    } else {
      KOPT_TRY(values, rangeValues(of, rest));
    }
    out_.params.push_back({name, std::move(values), clause_});
    return {};
  }

  Result<std::vector<std::int64_t>> listValues(const std::string &of, std::string_view text) const {
    if (text.back() != '}')
      return fail(of + " has a list that is not closed by '}'");
    text = trim(text.substr(1, text.size() - 2));
    if (text.empty())
      return fail(of + " has no values", "write for example " + of + " in {8, 16, 32}");
    std::vector<std::int64_t> values;
    for (const std::string &item : splitList(text)) {
      KOPT_TRY(std::int64_t value, constant(of, item));
      if (std::find(values.begin(), values.end(), value) != values.end())
        return fail(of + " lists the value " + std::to_string(value) + " twice");
      values.push_back(value);
    }
    return values;
  }

  Result<std::vector<std::int64_t>> rangeValues(const std::string &of,
                                                std::string_view text) const {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos)
      return fail(of + " has no range", "write a list {8, 16} or a range 32..256");
    std::string_view upperPart = text.substr(dots + 2);
    const std::size_t word = std::min(upperPart.find(" step"), upperPart.find(" pow2"));
    std::string_view rule = word == std::string_view::npos ? "" : trim(upperPart.substr(word));
    KOPT_TRY(const std::int64_t low, constant(of, std::string(trim(text.substr(0, dots)))));
    KOPT_TRY(const std::int64_t high, constant(of, std::string(trim(upperPart.substr(0, word)))));
    const std::string range = std::to_string(low) + ".." + std::to_string(high);
    if (high < low)
      return fail(of + " has an empty range " + range,
                  "the smaller value comes first: " + std::to_string(high) + ".." +
                      std::to_string(low));
    const bool powers = rule == "pow2";
    std::int64_t step = 1;
    if (powers && low < 1)
      return fail(of + " has powers of two from " + std::to_string(low), "start at 1 or above");
    if (!powers && !rule.empty()) {
      if (rule.substr(0, 5) != "step ")
        return fail(of + " ends in '" + std::string(rule) + "'", "write step N or pow2");
      KOPT_TRY(step, constant(of, std::string(trim(rule.substr(5)))));
      if (step < 1)
        return fail(of + " has a step of " + std::to_string(step), "a step must be at least 1");
    }
    return expandRange(of, range, low, high, step, powers);
  }

  Result<std::vector<std::int64_t>> expandRange(const std::string &of, const std::string &range,
                                                std::int64_t low, std::int64_t high,
                                                std::int64_t step, bool powers) const {
    std::vector<std::int64_t> values;
    std::int64_t value = powers ? 1 : low;
    bool overflow = false;
    while (!overflow && value <= high) {
      if (value >= low)
        values.push_back(value);
      if (values.size() > kMaxValues)
        return fail(of + " has more than " + std::to_string(kMaxValues) + " values in " + range,
                    "use a larger step or pow2");
      overflow = powers ? __builtin_mul_overflow(value, std::int64_t(2), &value)
                        : __builtin_add_overflow(value, step, &value);
    }
    if (values.empty())
      return fail(of + " has no power of two in " + range);
    return values;
  }

  Status require(std::string_view rest) {
    KOPT_CHECK(checkExpression("require", std::string(rest)));
    out_.requirements.emplace_back(rest);
    return {};
  }

  Status dimensions(const char *what, std::string_view rest, std::vector<std::string> &to) {
    if (!to.empty())
      return fail(std::string(what) + " is declared twice");
    std::vector<std::string> parts = splitList(rest);
    if (parts.size() > 3)
      return fail(std::string(what) + " has " + std::to_string(parts.size()) + " dimensions",
                  "give one to three expressions");
    for (const std::string &part : parts)
      KOPT_CHECK(checkExpression(what, part));
    to = std::move(parts);
    return {};
  }
  Status block(std::string_view rest) { return dimensions("block", rest, out_.block); }
  Status grid(std::string_view rest) { return dimensions("grid", rest, out_.grid); }

  /// Parses `keyword NAME = VALUE` and refuses a second value for a name.
  template <class Map>
  Result<std::pair<std::string, std::string>> assignment(const char *keyword, std::string_view rest,
                                                         const Map &known) const {
    auto [name, value] = splitAssignment(rest);
    if (name.empty() || value.empty() || !isName(name))
      return fail(std::string("malformed ") + keyword + " clause",
                  std::string("write ") + keyword + " NAME = VALUE");
    if (known.count(name))
      return fail(std::string(keyword) + " " + name + " is declared twice");
    return std::pair(name, value);
  }

  Status argument(std::string_view rest) {
    const auto [name, value] = splitAssignment(rest);
    if (out_.argumentMembers.contains(name))
      return fail("arg " + name + " is declared twice");
    if (!value.starts_with('{'))
      return named("arg", rest, out_.arguments);
    KOPT_CHECK(assignment("arg", rest, out_.arguments));
    const std::string of = "arg " + name;
    if (!value.ends_with('}') || value.size() < 3)
      return fail(of + " has a list that is empty or not closed by '}'",
                  "write for example " + of + " = {1.0, 2.0, 3.0}");
    std::vector<std::string> texts = splitList(std::string_view(value).substr(1, value.size() - 2));
    for (const std::string &text : texts)
      if (!parseReal(text))
        KOPT_CHECK(checkExpression(of, text));
    out_.argumentMembers[name] = std::move(texts);
    return {};
  }
  Status extent(std::string_view rest) { return named("extent", rest, out_.extents); }
  Status named(const char *keyword, std::string_view rest, std::map<std::string, std::string> &to) {
    KOPT_TRY(auto pair, assignment(keyword, rest, to));
    KOPT_CHECK(checkExpression(std::string(keyword) + " " + pair.first, pair.second));
    to.insert(std::move(pair));
    return {};
  }

  Status fill(std::string_view rest) {
    KOPT_TRY(auto pair, assignment("fill", rest, out_.fills));
    const std::string of = "fill " + pair.first;
    const std::string &text = pair.second;
    const std::size_t open = text.find('(');
    const std::string kind(trim(std::string_view(text).substr(0, open)));
    std::vector<double> numbers;
    std::vector<std::string> expressions;
    if (open != std::string::npos && text.back() != ')')
      return fail(of + " is not closed by ')'");
    if (kind == "file" || kind == "values") {
      if (open == std::string::npos)
        return fail(of + ": " + kind + " needs parentheses", hintOfFills());
      const std::string_view inside =
          trim(std::string_view(text).substr(open + 1, text.size() - open - 2));
      return kind == "file" ? fileFill(pair.first, inside) : valuesFill(pair.first, inside);
    }
    if (open != std::string::npos) {
      for (const std::string &item :
           splitList(std::string_view(text).substr(open + 1, text.size() - open - 2))) {
        const std::optional<double> number = parseReal(item);
        if (!number)
          KOPT_CHECK(checkExpression(of, item));
        numbers.push_back(number.value_or(0));
        expressions.push_back(number ? "" : item);
      }
    }
    static const std::map<std::string, std::size_t> kArguments = {
        {"uniform", 2}, {"iota", 0}, {"zero", 0}, {"constant", 1}};
    auto known = kArguments.find(kind);
    if (known == kArguments.end()) {
      const std::string guess =
          didYouMean(kind, {"uniform", "iota", "zero", "constant", "values", "file"});
      return fail(of + ": unknown fill '" + text + "'", guess.empty() ? hintOfFills() : guess);
    }
    if (known->second != numbers.size())
      return fail(of + ": unknown fill '" + text + "': " + kind + " takes " +
                      std::to_string(known->second) + " values, not " +
                      std::to_string(numbers.size()),
                  hintOfFills());
    Fill made;
    made.kind =
        runtime::parseFillKind(kind).value_or(FillKind::Uniform); // kind is one of kArguments
    if (!numbers.empty()) {
      made.low = numbers.front();
      made.high = numbers.back();
    }
    const bool isKnown = std::ranges::all_of(expressions, &std::string::empty);
    if (!isKnown)
      out_.fillBounds[pair.first] = {expressions.front(), expressions.back()};
    if (isKnown && made.low > made.high)
      return fail(of + " has an empty range " + text, "the smaller value comes first");
    out_.fills[pair.first] = made;
    return {};
  }

  static std::string hintOfFills() {
    return "write uniform(lo, hi), iota, zero, constant(v), values(41, 13, 11) or "
           "file(\"data.bin\")";
  }

  /// Parses `values(41, n, 11)`: the elements in order.
  Status valuesFill(const std::string &name, std::string_view inside) {
    const std::string of = "fill " + name;
    if (inside.empty())
      return fail(of + " has no values", "write for example " + of + " = values(41, 13, 11)");
    std::vector<std::string> texts = splitList(inside);
    for (const std::string &text : texts)
      if (!parseReal(text))
        KOPT_CHECK(checkExpression(of, text));
    out_.fillValues[name] = std::move(texts);
    out_.fills[name].kind = FillKind::Values;
    return {};
  }

  /// Parses `file("data.bin")`; the path is relative to the file with the clause.
  Status fileFill(const std::string &name, std::string_view inside) {
    const std::string of = "fill " + name;
    for (const char quote : {'"', '\''})
      if (inside.size() >= 2 && inside.front() == quote && inside.back() == quote)
        inside = inside.substr(1, inside.size() - 2);
    if (inside.empty())
      return fail(of + " names no file", "write for example " + of + " = file(\"data.bin\")");
    const std::filesystem::path path =
        (std::filesystem::absolute(clause_.file).parent_path() / std::filesystem::path(inside))
            .lexically_normal();
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem))
      return fail(of + ": there is no file " + path.string(),
                  "the path is relative to the folder of the file with the clause");
    const auto bytes = readFile(path);
    if (!bytes)
      return fail(of, bytes.error());
    Fill made;
    made.kind = FillKind::Values;
    made.path = path.string();
    made.hash = hashHex(*bytes);
    out_.fills[name] = std::move(made);
    return {};
  }

  Status launch(std::string_view rest) {
    const std::size_t colon = rest.find(':');
    DeclaredLaunch made;
    made.name = trim(rest.substr(0, colon));
    made.clause = clause_;
    if (colon == std::string_view::npos || made.name.empty())
      return fail("malformed launch clause", "write launch NAME: n=1024, m=512 weight 2");
    for (const DeclaredLaunch &other : out_.launches)
      if (other.name == made.name)
        return fail("launch " + made.name + " is declared twice",
                    "the other is at " + other.clause.file + ":" +
                        std::to_string(other.clause.line));
    std::string values(trim(rest.substr(colon + 1)));
    KOPT_CHECK(launchSuffixes(values, made));
    if (!values.empty())
      for (const std::string &item : splitList(values)) {
        KOPT_TRY(auto pair, assignment("launch value", item, made.arguments));
        KOPT_TRY(made.arguments[pair.first],
                 constant("launch " + made.name + ", " + pair.first, pair.second));
      }
    out_.launches.push_back(std::move(made));
    return {};
  }

  /// Removes `weight w` and `on device`, in either order, from the end of the values.
  Status launchSuffixes(std::string &values, DeclaredLaunch &made) const {
    bool weighted = false;
    while (true) {
      const std::size_t last = values.find_last_of(" \t");
      const std::string argument = values.substr(last == std::string::npos ? 0 : last + 1);
      const std::string_view before =
          trim(std::string_view(values).substr(0, last == std::string::npos ? 0 : last));
      const std::size_t space = before.find_last_of(" \t,");
      const std::string_view word =
          space == std::string_view::npos ? before : before.substr(space + 1);
      if (word == "weight" && !weighted) {
        std::optional<double> weight = parseReal(argument);
        if (!weight || *weight <= 0)
          return fail("launch " + made.name + " has a weight of " + argument,
                      "a weight must be above 0");
        made.weight = *weight;
        weighted = true;
      } else if (word == "on" && made.device == DeviceKind::Auto) {
        const auto kind = parseEnum<DeviceKind>(argument);
        if (!kind || *kind == DeviceKind::Auto)
          return fail("launch " + made.name + " is on the unknown device '" + argument + "'",
                      "write on emulated or on cuda");
        made.device = *kind;
      } else {
        return {};
      }
      values = std::string(trim(before.substr(0, before.size() - word.size())));
    }
  }

  Status tolerance(std::string_view rest) {
    if (out_.tolerance.policy != TolerancePolicy::Default)
      return fail("tolerance is declared twice");
    if (rest == "strict") {
      out_.tolerance.policy = TolerancePolicy::Strict;
      return {};
    }
    Tolerance made;
    made.policy = TolerancePolicy::User;
    bool any = false;
    while (!rest.empty()) {
      auto [name, value] = splitAssignment(takeWord(rest));
      std::optional<double> number = parseReal(value);
      if ((name != "relative" && name != "absolute") || !number || *number < 0)
        return fail("malformed tolerance clause",
                    "write tolerance relative=1e-5 absolute=1e-8 or tolerance strict");
      (name == "relative" ? made.relative : made.absolute) = *number;
      any = true;
    }
    if (!any)
      return fail("tolerance has no value",
                  "write tolerance relative=1e-5 absolute=1e-8 or tolerance strict");
    out_.tolerance = made;
    return {};
  }

  Status target(std::string_view rest) {
    std::optional<double> value = parseReal(rest);
    if (out_.target)
      return fail("target is declared twice");
    if (!value || *value <= 1)
      return fail("target is '" + std::string(rest) + "'",
                  "give a speedup above 1, such as target 1.5");
    out_.target = value;
    return {};
  }

  TuneDeclaration &out_;
  const TuneClause &clause_;
};

} // namespace

Result<TuneDeclaration> parseTuneDeclaration(const std::vector<TuneClause> &clauses) {
  TuneDeclaration declaration;
  for (const TuneClause &clause : clauses)
    KOPT_CHECK(ClauseParser(declaration, clause).parse());
  return declaration;
}

} // namespace kopt
