// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Adequacy.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace kopt {

std::vector<AdequacyReport::Survivor> AdequacyReport::unexplained() const {
  std::vector<Survivor> found;
  std::copy_if(survivors.begin(), survivors.end(), std::back_inserter(found),
               [](const Survivor &survivor) { return survivor.excuse.empty(); });
  return found;
}

std::string AdequacyReport::inWords() const {
  std::string text =
      fmt::format("{} of {} wrong versions of the kernel are noticed", noticed, tried);
  if (draws > 1)
    text += fmt::format(", some of them only on {} draws of the inputs", draws);
  if (!additions.empty())
    text += fmt::format("; {} launches were added for that", additions.size());
  if (untried > 0)
    text += fmt::format("; {} more were not tried for lack of time", untried);
  for (const Survivor &survivor : survivors)
    text += fmt::format("; not noticed: {}{}", survivor.title,
                        survivor.excuse.empty() ? "" : " (" + survivor.excuse + ")");
  return text;
}

std::string AdequacyReport::remedy() const {
  static const std::pair<const char *, const char *> kRemedies[] = {
      {"comparison", "a launch whose size is not a multiple of the block, or with different "
                     "numbers of rows and columns"},
      {"bound", "a launch whose size is not a multiple of the block"},
      {"loop", "a launch with more steps or longer rows"},
      {"index", "a launch with more than one block in each dimension"},
      {"literal", "inputs that reach the branch with that number"},
      {"arithmetic", "other fills, so that the operand is neither 0 nor 1"},
  };
  std::vector<std::string> remedies;
  for (const Survivor &survivor : survivors)
    if (survivor.excuse.empty()) {
      std::string text = "inputs or arguments with which that line decides an output";
      for (const auto &[part, remedy] : kRemedies)
        if (survivor.op.find(part) != std::string::npos)
          text = remedy;
      if (std::find(remedies.begin(), remedies.end(), text) == remedies.end())
        remedies.push_back(text);
    }
  return join(remedies, "; ");
}

} // namespace kopt
