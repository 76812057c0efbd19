// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Table.h"

namespace kopt::frontend {
namespace {

std::string triple(const std::array<std::string, 3> &value) {
  if (value[0].empty())
    return "?";
  return "(" + value[0] + ", " + value[1] + ", " + value[2] + ")";
}

std::string launchText(const LaunchInfo &launch, const std::string &kernel) {
  std::string text = "  launch          " + launch.file + ":" + std::to_string(launch.line) + ":" +
                     std::to_string(launch.column) + "  " + kernel + "  " + launch.geometry +
                     "  grid " + triple(launch.grid) + " block " + triple(launch.block) +
                     " shared " + (launch.sharedBytes.empty() ? "?" : launch.sharedBytes) + "\n";
  if (!launch.reason.empty())
    text += "                  " + launch.reason + "\n";
  return text;
}

/// The expression of a specialization, known by its symbol.
std::string nameOf(const KernelInfo &kernel, const std::string &symbol) {
  for (const SpecializationInfo &specialization : kernel.specializations)
    if (specialization.symbol == symbol)
      return specialization.expression;
  return symbol;
}

} // namespace

std::string listText(const Extraction &extraction) {
  std::string text;
  for (const KernelInfo &kernel : extraction.kernels) {
    text += kernel.name + "  " + kernel.file + ":" + std::to_string(kernel.line) +
            (kernel.annotated ? "  [[kopt::tune]]" : "") + "\n";
    for (const ClauseInfo &clause : kernel.clauses)
      text += "  clause          " + clause.text + "\n";
    for (const SpecializationInfo &specialization : kernel.specializations) {
      text += "  specialization  " + specialization.expression + "  " + specialization.route +
              (specialization.proven ? ", proven" : "") + "\n";
      if (!specialization.reason.empty())
        text += "                  " + specialization.reason + "\n";
    }
    for (const LaunchInfo &launch : kernel.launches)
      text += launchText(launch, nameOf(kernel, launch.symbol));
    for (const ConstantInfo &constant : kernel.constants)
      text += "  constant        " + constant.name + " = " + std::to_string(constant.value) + "  " +
              constant.kind + "\n";
    text += "\n";
  }
  if (extraction.kernels.empty())
    text += "no kernels\n";
  if (!extraction.unresolvedLaunches.empty())
    text += "launches of unknown kernels\n";
  for (const UnresolvedLaunch &unresolved : extraction.unresolvedLaunches)
    text += launchText(unresolved.launch, unresolved.callee) + "                  " +
            unresolved.reason + "\n";
  for (const std::string &note : extraction.notes)
    text += "note: " + note + "\n";
  return text;
}

} // namespace kopt::frontend
