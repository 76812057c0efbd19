// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Table.h"

namespace kopt::frontend {
namespace {

std::string triple(const std::array<std::string, 3> &value) {
  if (value[0].empty())
    return "?";
  return "(" + value[0] + ", " + value[1] + ", " + value[2] + ")";
}

std::string launchText(const LaunchSite &launch, const std::string &kernel) {
  std::string text = "  launch          " + launch.file + ":" + std::to_string(launch.line) + ":" +
                     std::to_string(launch.column) + "  " + kernel + "  " +
                     toString(launch.geometry) + "  grid " + triple(launch.grid) + " block " +
                     triple(launch.block) + " shared " +
                     (launch.sharedBytes.empty() ? "?" : launch.sharedBytes) + "\n";
  if (launch.reason)
    text += "                  " + *launch.reason + "\n";
  return text;
}

/// The expression of a specialization, known by its symbol.
std::string nameOf(const KernelSpec &kernel, const std::string &symbol) {
  for (const Specialization &specialization : kernel.specializations)
    if (specialization.symbol == symbol)
      return specialization.expression;
  return symbol;
}

} // namespace

std::string listText(const ExtractionResult &extraction) {
  std::string text;
  for (const KernelSpec &kernel : extraction.kernels) {
    text += kernel.name + "  " + kernel.file + ":" + std::to_string(kernel.line) +
            (kernel.annotated ? "  [[kopt::tune]]" : "") + "\n";
    for (const TuneClause &clause : kernel.clauses)
      text += "  clause          " + clause.text + "\n";
    for (const Specialization &specialization : kernel.specializations) {
      text += "  specialization  " + specialization.expression + "  " +
              toString(specialization.route) + (specialization.proven ? ", proven" : "") + "\n";
      if (!specialization.reason.empty())
        text += "                  " + specialization.reason + "\n";
    }
    for (const LaunchSite &launch : kernel.launches)
      text += launchText(launch, nameOf(kernel, launch.symbol));
    for (const NamedConstant &constant : kernel.constants)
      text += "  constant        " + constant.name + " = " + std::to_string(constant.value) + "  " +
              toString(constant.kind) + "\n";
    text += "\n";
  }
  if (extraction.kernels.empty())
    text += "no kernels\n";
  if (!extraction.unresolvedLaunches.empty())
    text += "launches of unknown kernels\n";
  for (const LaunchSite &launch : extraction.unresolvedLaunches)
    text += launchText(launch, launch.callee.value_or(""));
  for (const std::string &note : extraction.notes)
    text += "note: " + note + "\n";
  return text;
}

} // namespace kopt::frontend
