// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Cli.h"

int main(int argc, char **argv) { return kopt::runCli(argc, argv); }
