// SPDX-License-Identifier: Apache-2.0
// kopt-sandbox: runs one program with nothing but what it is given. Started by kopt for what it
// does not trust; README.md of driver/sandbox has its command line.
#include "driver/sandbox/launcher/Launch.h"
#include "driver/sandbox/launcher/Probe.h"

#include <cstdio>
#include <sys/prctl.h>

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
  if (options->inside)
    return becomeProgram(*options, true);
  prctl(PR_SET_NAME, "kopt-sandbox");
  return options->namespaces == Namespaces::Bubblewrap ? launchInBubblewrap(*options)
                                                       : launchInNamespaces(*options);
}
