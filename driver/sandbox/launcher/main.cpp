// SPDX-License-Identifier: Apache-2.0
// kopt-sandbox: runs one program with nothing but what it is given. Started by kopt for what it
// does not trust; README.md of driver/sandbox has its command line.
#include "driver/sandbox/launcher/Launch.h"
#include "driver/sandbox/launcher/Probe.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace kopt::sandbox;
  std::string why;
  const std::optional<Options> options = parseOptions(argc, argv, why);
  if (!options) {
    std::fprintf(stderr, "kopt-sandbox: %s\n", why.c_str());
    return kExitUsage;
  }
  if (options->probe)
    return probe();
  return options->inside ? launchInside(*options) : launch(*options);
}
