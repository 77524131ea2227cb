// SPDX-License-Identifier: Apache-2.0
// The one main().
#include <iostream>

#include "trireme/cli/application.h"

int main(int argc, char** argv) { return trireme::cli::run_application(argc, argv, {.out = std::cout, .err = std::cerr}); }
