// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/proof/Ptx.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace kopt::frontend {
namespace {

bool isNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool isNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

/// The lines without comments, without lines that only describe the source, and trimmed.
std::vector<std::string> usefulLines(std::string_view ptx) {
  std::string clean;
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    if (ptx[i] == '/' && i + 1 < ptx.size() && ptx[i + 1] == '/')
      i = std::min(ptx.find('\n', i), ptx.size()) - 1;
    else if (ptx[i] == '/' && i + 1 < ptx.size() && ptx[i + 1] == '*') {
      std::size_t end = ptx.find("*/", i + 2);
      i = end == std::string_view::npos ? ptx.size() : end + 1;
    } else
      clean += ptx[i];
  }
  std::vector<std::string> lines;
  std::istringstream stream(clean);
  for (std::string line; std::getline(stream, line);) {
    std::size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first == std::string::npos)
      continue;
    line = line.substr(first, last - first + 1);
    if (line.rfind(".section", 0) == 0) // debugging information extends to the end of the module
      break;
    if (line.rfind(".loc", 0) == 0 && line.rfind(".local", 0) != 0)
      continue;
    if (line.rfind(".file", 0) == 0)
      continue;
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> namesIn(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size();) {
    if (!isNameStart(text[i]) || (i && (isNamePart(text[i - 1]) || text[i - 1] == '.'))) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && isNamePart(text[end]))
      ++end;
    names.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return names;
}

/// Sets the name that a head line such as ".visible .entry _Z1kPf(" or ".global .align 4 .b8 x[64]
/// = {...};" defines.
void nameStatement(PtxStatement &statement) {
  std::string head = statement.text.substr(0, statement.text.find_first_of("={"));
  std::size_t function = head.find(".func"), entry = head.find(".entry");
  statement.isEntry = entry != std::string::npos;
  if (statement.isEntry)
    head = head.substr(entry + 6);
  else if (function != std::string::npos) {
    head = head.substr(function + 5);
    // A result comes first: .func (.param .b32 r) name(...)
    std::size_t first = head.find_first_not_of(" \n");
    if (first != std::string::npos && head[first] == '(')
      head = head.substr(head.find(')') + 1);
  }
  std::vector<std::string> names = namesIn(head);
  if (!names.empty())
    statement.name = names.front();
}

/// Moves shared variables from functions to the module. nvcc writes a shared variable that only one
/// function uses inside that function ("demoted"), and others in the module.
void promoteShared(PtxStatement &code, std::vector<PtxStatement> &out) {
  std::string body;
  std::istringstream stream(code.text);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(".shared ", 0) != 0 || line.back() != ';') {
      body += line + "\n";
      continue;
    }
    PtxStatement variable;
    variable.text = line + "\n";
    nameStatement(variable);
    out.push_back(std::move(variable));
  }
  code.text = std::move(body);
}

std::vector<PtxStatement> statementsOf(std::string_view ptx) {
  std::vector<PtxStatement> statements;
  PtxStatement current;
  int depth = 0;
  for (const std::string &line : usefulLines(ptx)) {
    if (current.text.empty() && (line.rfind(".version", 0) == 0 || line.rfind(".target", 0) == 0 ||
                                 line.rfind(".address_size", 0) == 0))
      continue;
    current.text += line + "\n";
    for (char c : line)
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    bool isCode = current.text.find(".entry") != std::string::npos ||
                  current.text.find(".func") != std::string::npos;
    if (depth == 0 && ((isCode && line.back() == '}') || line.back() == ';')) {
      nameStatement(current);
      if (isCode)
        promoteShared(current, statements);
      statements.push_back(std::move(current));
      current = {};
    }
  }
  return statements;
}

/// True for names with a hash of the file or a running number, which may differ for equal code.
bool isFileLocal(const std::string &name) {
  return name.find("_INTERNAL_") != std::string::npos ||
         name.find("_GLOBAL__N_") != std::string::npos ||
         name.find("__nv_static_") != std::string::npos || name.rfind("$", 0) == 0 ||
         name.find("$str") != std::string::npos || name.rfind("__unnamed_", 0) == 0 ||
         name.rfind("__local_depot", 0) == 0 || name.rfind("prototype_", 0) == 0 ||
         name.rfind("_$_str", 0) == 0;
}

std::string withoutLinkage(std::string text) {
  for (std::string_view word : {".visible ", ".weak ", ".common "})
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
      text.erase(at, word.size());
  return text;
}

} // namespace

PtxModule::PtxModule(std::string_view ptx) : statements_(statementsOf(ptx)) {
  for (const PtxStatement &statement : statements_)
    byName_[statement.name].push_back(&statement);
}

std::vector<std::string> PtxModule::entries() const {
  std::vector<std::string> names;
  for (const PtxStatement &statement : statements_)
    if (statement.isEntry)
      names.push_back(statement.name);
  return names;
}

std::optional<std::string> PtxModule::normalised(const std::string &entry) const {
  if (!byName_.count(entry))
    return std::nullopt;

  // Breadth first from the kernel, so that the order does not depend on the rest of the module.
  std::vector<std::string> open = {entry};
  std::set<std::string> seen(open.begin(), open.end());
  std::string text;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::vector<const PtxStatement *> &namesakes = byName_.at(open[i]);
    for (const PtxStatement *statement : namesakes) {
      // A forward declaration adds nothing to the definition.
      bool declaration = statement->text.find('{') == std::string::npos && namesakes.size() > 1;
      if (declaration)
        continue;
      text += withoutLinkage(statement->text);
      for (const std::string &name : namesIn(statement->text))
        if (byName_.count(name) && seen.insert(name).second)
          open.push_back(name);
    }
  }

  std::map<std::string, std::string> renamed;
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    bool start = isNameStart(text[i]) && !(i && (isNamePart(text[i - 1]) || text[i - 1] == '.'));
    std::size_t end = i + 1;
    if (start)
      while (end < text.size() && isNamePart(text[end]))
        ++end;
    std::string word = text.substr(i, end - i);
    if (start && isFileLocal(word)) {
      auto known = renamed.try_emplace(word, "$local" + std::to_string(renamed.size())).first;
      word = known->second;
    }
    result += word;
    i = end;
  }
  return result;
}

std::string firstDifference(const std::string &original, const std::string &slice) {
  if (original == slice)
    return "";
  std::istringstream left(original), right(slice);
  std::string a, b;
  for (unsigned line = 1;; ++line) {
    bool moreLeft = static_cast<bool>(std::getline(left, a)),
         moreRight = static_cast<bool>(std::getline(right, b));
    if (!moreLeft || !moreRight || a != b)
      return "PTX differs at line " + std::to_string(line) + ": '" + (moreLeft ? a : "end") +
             "' in the original, '" + (moreRight ? b : "end") + "' in the slice";
  }
}

} // namespace kopt::frontend
