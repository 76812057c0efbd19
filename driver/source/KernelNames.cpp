// SPDX-License-Identifier: Apache-2.0
#include "driver/source/KernelNames.h"

#include "driver/support/Glob.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace kopt {
namespace {

std::string withoutBlanks(const std::string &text) { return replaceAll(text, " ", ""); }

/// Returns the symbol itself if it is not mangled.
std::string demangled(const std::string &symbol) {
  if (!symbol.starts_with("_Z"))
    return symbol; // the demangler would read a kernel "i" as the type int
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status != 0 || !text ? symbol : std::string(text.get());
}

} // namespace

bool isSameKernel(const std::string &symbol, const std::string &other) {
  return symbol == other || demangled(symbol) == demangled(other);
}

std::string kernelName(const std::string &symbol) {
  std::string text = demangled(symbol);
  if (text == symbol)
    return symbol;
  text = replaceAll(text, "(anonymous namespace)::", "");
  // The parameters begin at the parenthesis that matches the last one; the result type ends at the
  // last blank before the name that is outside template arguments.
  std::size_t end = text.size();
  if (const std::size_t close = text.rfind(')'); close != std::string::npos) {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
      depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
      if (depth == 0) {
        end = at;
        break;
      }
    }
  }
  text.resize(end);
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    depth += text[at] == '>' ? 1 : text[at] == '<' ? -1 : 0;
    if (depth == 0 && text[at] == ' ')
      return text.substr(at + 1);
  }
  return text;
}

bool namesKernel(const std::string &pattern, const std::string &name) {
  const std::string full = kernelName(name);
  const std::size_t open = std::min(full.find('<'), full.size());
  const std::size_t scope = full.rfind("::", open);
  const std::size_t last = scope == std::string::npos ? 0 : scope + 2;
  for (const std::string &candidate :
       {name, full, full.substr(last), full.substr(0, open), full.substr(last, open - last)})
    if (matchesGlob(withoutBlanks(pattern), withoutBlanks(candidate)))
      return true;
  return false;
}

bool namesKernel(const std::string &pattern, const KernelSpec &kernel,
                 const Specialization *specialization) {
  return namesKernel(pattern, kernel.name) ||
         (specialization && (namesKernel(pattern, specialization->symbol) ||
                             namesKernel(pattern, specialization->expression)));
}

} // namespace kopt
