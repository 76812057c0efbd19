// SPDX-License-Identifier: Apache-2.0
// kopt-extract and kopt-frontend: one executable; the name under which it is started decides.
#include "clang_plugin/tool/Tools.h"

int main(int argc, const char **argv) { return kopt::frontend::runTool(argc, argv); }
