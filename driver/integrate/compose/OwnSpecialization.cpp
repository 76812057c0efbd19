// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/compose/OwnSpecialization.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {
namespace {

/// A token of C++ text. A string is one token; comments and blanks are not tokens.
struct Token {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool isName = false;
};

bool isNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
      continue;
    }
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      i = close == text.npos ? text.size() : close + 2;
      continue;
    }
    if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c)
        end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (isNameChar(c)) {
      // A number includes its fraction.
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (end < text.size() && (isNameChar(text[end]) || (number && text[end] == '.')))
        ++end;
    } else if (text.compare(i, 2, "::") == 0 || text.compare(i, 2, "->") == 0) {
      end = i + 2;
    }
    tokens.push_back({i, end, text.substr(i, end - i),
                      isNameChar(c) && std::isdigit(static_cast<unsigned char>(c)) == 0});
    i = end;
  }
  return tokens;
}

/// The index of the token that closes the bracket at `open`, or the number of tokens.
std::size_t closing(const std::vector<Token> &tokens, std::size_t open) {
  static const std::map<std::string, std::string> kPairs = {
      {"(", ")"}, {"[", "]"}, {"{", "}"}, {"<", ">"}};
  std::vector<std::string> expected;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string &text = tokens[i].text;
    const auto pair = kPairs.find(text);
    // Within parentheses, < is a comparison.
    if (pair != kPairs.end() && (text != "<" || expected.empty() || expected.back() == ">"))
      expected.push_back(pair->second);
    else if (!expected.empty() && text == expected.back())
      expected.pop_back();
    if (expected.empty())
      return i;
  }
  return tokens.size();
}

/// What the commas between two brackets separate: the first token of each part, and that behind it.
std::vector<std::pair<std::size_t, std::size_t>> partsOf(const std::vector<Token> &tokens,
                                                         std::size_t open, std::size_t close) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = open + 1, first = i; i <= close && close < tokens.size(); ++i) {
    if (i == close || tokens[i].text == ",") {
      parts.emplace_back(first, i);
      first = i + 1;
    } else if (std::string("(<[{").find(tokens[i].text) != std::string::npos) {
      i = closing(tokens, i);
    }
  }
  return parts;
}

tl::unexpected<Error> notKnown(const std::string &what) {
  return makeError(ErrorCode::Usage, what);
}

/// A template parameter: "typename T", "int N = 4".
struct Parameter {
  std::string name, type; ///< type: empty for typename and class
};

Result<std::vector<Parameter>> parametersOf(const std::string &text,
                                            const std::vector<Token> &tokens, std::size_t open,
                                            std::size_t close) {
  std::vector<Parameter> parameters;
  for (std::size_t i = open + 1; i < close; ++i)
    if ((tokens[i].text == "." && tokens[i + 1].text == ".") || tokens[i].text == "template")
      return notKnown("its template has a parameter pack or a template template parameter");
  for (const auto &[first, end] : partsOf(tokens, open, close)) {
    std::size_t last = first; ///< behind the name
    while (last < end && tokens[last].text != "=")
      ++last;
    if (last - first < 2 || !tokens[last - 1].isName)
      return notKnown("its template has a parameter without a name");
    const std::string kind = tokens[first].text;
    Parameter parameter{tokens[last - 1].text, ""};
    if (kind != "typename" && kind != "class")
      parameter.type = std::string(
          trim(text.substr(tokens[first].begin, tokens[last - 1].begin - tokens[first].begin)));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// The text from token `first` up to `last`, with the names in `values` replaced. The markers of
/// kopt (KOPT_TUNE, attributes) are left out, and so is a storage class, which the template gives
/// its specializations.
std::string signature(const std::string &text, const std::vector<Token> &tokens, std::size_t first,
                      std::size_t last, const std::map<std::string, std::string> &values,
                      std::size_t nameAt, const std::string &arguments) {
  std::string made;
  std::size_t copied = tokens[first].begin;
  for (std::size_t i = first; i < last; ++i) {
    const Token &token = tokens[i];
    const bool isMacro = token.text == "KOPT_TUNE" && tokens[i + 1].text == "(";
    const bool isAttribute = token.text == "[" && tokens[i + 1].text == "[" && i + 2 < last &&
                             tokens[i + 2].text == "kopt";
    const bool isStorage = i < nameAt && (token.text == "static" || token.text == "extern");
    if (isMacro || isAttribute || isStorage) {
      made += text.substr(copied, token.begin - copied);
      if (!isStorage)
        i = closing(tokens, isMacro ? i + 1 : i);
      copied = tokens[std::min(i + 1, last)].begin;
      continue;
    }
    const bool isMember = i > first && (tokens[i - 1].text == "." || tokens[i - 1].text == "->" ||
                                        tokens[i - 1].text == "::");
    const auto value = values.find(token.text);
    if (i == nameAt) {
      made += text.substr(copied, token.end - copied) + "<" + arguments + ">";
      copied = token.end;
    } else if (token.isName && value != values.end() && !isMember) {
      made += text.substr(copied, token.begin - copied) + value->second;
      copied = token.end;
    }
  }
  return made + text.substr(copied, tokens[last].begin - copied);
}

/// True if several translation units may include the file, and their device code is linked: then
/// the specialization, unlike its template, would be defined twice.
bool isLinkedTwice(const KernelSpec &kernel, const std::string &file) {
  static const std::set<std::string> kRelocatable = {"-rdc=true", "-dc",
                                                     "--relocatable-device-code=true"};
  return file != kernel.unit &&
         std::ranges::any_of(kernel.compileFlags,
                             [](const std::string &flag) { return kRelocatable.contains(flag); });
}

/// A condition in the names of the launch site that tells the instantiation from the others that
/// are launched there, as a dispatch macro does; empty if there are none.
Result<std::string> conditionAt(const LaunchSite &site, const TuneSubject &subject) {
  const Specialization &own = subject.specialization;
  std::vector<const Specialization *> others;
  for (const LaunchSite &other : subject.kernel.launches)
    if (sameSite(other, site))
      for (const Specialization &one : subject.kernel.specializations)
        if (one.symbol == other.symbol && one.symbol != own.symbol)
          others.push_back(&one);
  if (others.empty())
    return std::string();
  std::string condition;
  const auto tell = [&](const std::string &part, const auto &differs) {
    if (std::erase_if(others, differs) > 0)
      condition += (condition.empty() ? "" : " && ") + part;
  };
  KOPT_TRY(const std::string callee, calleeAt(site).and_then(textOf));
  const std::vector<Token> tokens = tokensOf(callee);
  const auto open = std::size_t(std::ranges::find(tokens, "<", &Token::text) - tokens.begin());
  const auto spelled = partsOf(tokens, open, closing(tokens, open));
  for (std::size_t i = 0; i < std::min(spelled.size(), own.templateArgs.size()); ++i) {
    const std::string &value = own.templateArgs[i].value;
    const bool isType = !own.templateArgs[i].integral && value != "true" && value != "false";
    const std::size_t begin = tokens[spelled[i].first].begin;
    const std::string text = callee.substr(begin, tokens[spelled[i].second - 1].end - begin);
    tell(isType ? fmt::format("std::is_same<{}, {}>::value", text, value)
                : fmt::format("({}) == {}", text, value),
         [&](const Specialization *other) {
           return i < other->templateArgs.size() && other->templateArgs[i].value != value;
         });
  }
  // What is deduced follows from the pointers that are passed.
  for (std::size_t i = 0; i < std::min(site.args.size(), own.params.size()); ++i)
    if (const KernelParam &param = own.params[i]; param.kind == ParamKind::Pointer)
      tell(fmt::format("std::is_convertible<decltype({}), {}>::value", site.args[i], param.type),
           [&](const Specialization *other) {
             return i < other->params.size() && other->params[i].type != param.type;
           });
  if (!others.empty())
    return notKnown(fmt::format("its launch at {} does not spell what tells it from '{}'",
                                placeOf(site), others.front()->expression));
  return "(" + condition + ")";
}

/// Makes the win's edits of launches depend on the template arguments, so that other instantiations
/// are launched as before. nvcc includes <utility>, and with it std::is_same, everywhere. True if
/// there are such edits.
Result<bool> keepLaunchesOfOthers(Win &win) {
  bool any = false;
  for (const LaunchSite &site : win.subject->kernel.launches) {
    if (site.symbol != win.subject->specialization.symbol || !site.blockRange)
      continue;
    KOPT_TRY(const std::string when, conditionAt(site, *win.subject));
    if (when.empty())
      continue;
    KOPT_TRY(const SourceRange callee, calleeAt(site));
    for (SourceEdit &edit : win.edits) {
      SourceRange &range = edit.range;
      if (range == site.gridRange || range == site.blockRange || range == site.sharedRange) {
        edit.text = when + " ? " + edit.text + " : "; // before the text as it is
        range.end = range.begin;
      } else if (range == SourceRange{site.file, site.blockRange->end, site.blockRange->end}) {
        edit.text = ", " + when + " ? " + edit.text.substr(2) + " : 0";         // was ", BYTES"
      } else if (range == SourceRange{site.file, callee.begin, callee.begin}) { // sets an attribute
        edit.text = "(void)(" + when + " && " + edit.text.insert(edit.text.rfind(','), ")");
      } else {
        continue;
      }
      any = true;
    }
  }
  return any;
}

} // namespace

bool sameSite(const LaunchSite &a, const LaunchSite &b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

Result<std::string> explicitSpecialization(const std::string &text, const std::string &name,
                                           const std::vector<TemplateArg> &templateArgs,
                                           const std::string &arguments, bool isInline) {
  const std::vector<Token> tokens = tokensOf(text);
  if (tokens.size() < 8 || tokens[0].text != "template" || tokens[1].text != "<")
    return notKnown("its text does not begin with 'template <'");
  const std::size_t close = closing(tokens, 1);
  if (close + 1 >= tokens.size())
    return notKnown("its template parameters have no end");
  KOPT_TRY(const std::vector<Parameter> parameters, parametersOf(text, tokens, 1, close));
  if (parameters.size() != templateArgs.size())
    return notKnown("its template has other parameters than the instantiation has arguments");
  if (tokens[close + 1].text == "requires")
    return notKnown("its template has a requires clause");
  std::size_t nameAt = close + 1;
  while (nameAt + 1 < tokens.size() &&
         !(tokens[nameAt].text == name && tokens[nameAt + 1].text == "("))
    ++nameAt;
  if (nameAt + 1 >= tokens.size())
    return notKnown(fmt::format("'{}(' was not found in its text", name));
  const std::size_t body = closing(tokens, nameAt + 1) + 1;
  if (body >= tokens.size() || tokens[body].text != "{")
    return notKnown("no body follows its parameters");

  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    values[parameters[i].name] = templateArgs[i].value;
  std::set<std::string> used;
  for (std::size_t i = body; i < tokens.size(); ++i)
    if (tokens[i].isName)
      used.insert(tokens[i].text);
  std::string names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!used.contains(parameters[i].name))
      continue;
    names += parameters[i].type.empty()
                 ? fmt::format("\n  using {} = {};", parameters[i].name, templateArgs[i].value)
                 : fmt::format("\n  constexpr {} {} = {};", parameters[i].type, parameters[i].name,
                               templateArgs[i].value);
  }
  const std::string head = signature(text, tokens, close + 1, body, values, nameAt, arguments);
  const bool isPlain = std::none_of(
      tokens.begin() + std::ptrdiff_t(close), tokens.begin() + std::ptrdiff_t(nameAt),
      [](const Token &token) { return token.text == "static" || token.text == "inline"; });
  return "template <>\n" + std::string(isInline && isPlain ? "inline " : "") + head + "{" + names +
         text.substr(tokens[body].end);
}

Result<Win> withOwnSpecialization(const Win &win) {
  const TuneSubject &subject = *win.subject;
  const Specialization &specialization = subject.specialization;
  const std::size_t open = specialization.expression.find('<');
  const auto text = win.candidate().chunks.find(specialization.kernelChunk);
  if (specialization.templateArgs.empty() || open == std::string::npos)
    return notKnown("it is not a template");
  Win own = win;
  own.ownSpecialization = true;
  KOPT_TRY(const bool hasLaunch, keepLaunchesOfOthers(own));
  if (text == win.candidate().chunks.end()) {
    if (hasLaunch)
      return own;
    return notKnown("the win changes neither the kernel's own text nor a launch of others");
  }
  const SourceRange &range = specialization.chunks.at(specialization.kernelChunk).source;
  KOPT_TRY(const std::string original, textOf(range));
  const std::string arguments =
      specialization.expression.substr(open + 1, specialization.expression.rfind('>') - open - 1);
  const std::size_t scope = subject.kernel.name.rfind("::");
  const std::string name =
      scope == std::string::npos ? subject.kernel.name : subject.kernel.name.substr(scope + 2);
  KOPT_TRY(const std::string made,
           explicitSpecialization(text->second, name, specialization.templateArgs, arguments,
                                  isLinkedTwice(subject.kernel, range.file)));
  own.trial.candidate.title += ", as a specialization of its own";
  own.trial.candidate.chunks[specialization.kernelChunk] = original + "\n\n" + made;
  own.trial.candidateHash = own.trial.candidate.contentHash();
  std::erase_if(own.edits, [&](const SourceEdit &edit) { return edit.range == range; });
  own.edits.push_back({{range.file, range.end, range.end}, "\n\n" + made});
  return own;
}

} // namespace kopt
