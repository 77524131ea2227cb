# CheckIncludes.cmake must find each kind of fault: small trees with one fault each, and one without.
#   cmake -DCHECK=.../CheckIncludes.cmake -DFOLDER=scratch -P check_includes_test.cmake

cmake_minimum_required(VERSION 3.25)

set(opening "// SPDX-License-Identifier: Apache-2.0\n// What this file is.\n")

# expect(RESULT file content message): the tree with this file gives RESULT (0 or 1) and says `message`.
function(expect result file content said)
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${FOLDER}/modules.txt "base: \ngraph: base;tensor\ncomm: base\ndata: base\ndata/ source,formats synthetic,sets,.\n")
  file(WRITE ${FOLDER}/trireme/base/good.h "${opening}#pragma once\n#include <string>\n#include \"trireme/base/error.h\"\n")
  file(WRITE ${FOLDER}/trireme/${file} "${content}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -DMODULES=${FOLDER}/modules.txt -P ${CHECK}
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL result OR NOT "${out}${err}" MATCHES "${said}")
    message(FATAL_ERROR "${file}: expected ${result} and '${said}', got ${code}:\n${out}${err}")
  endif()
  file(REMOVE_RECURSE ${FOLDER})
endfunction()

expect(0 graph/ops/relu.cc "${opening}#include \"trireme/graph/op_entry.h\"\n#include \"trireme/tensor/shape.h\"\n" "2 files include only")
expect(1 base/bad.cc "${opening}#include \"trireme/graph/graph.h\"\n" "base/bad.cc: includes trireme/graph/graph.h, but base does not use graph")
expect(1 graph/ops/bad.cc "${opening}  #  include \"trireme/comm/ring.h\"\n" "graph does not use comm")
expect(1 new/file.cc "${opening}#include <string>\n" "declares no module new")
expect(1 graph/bad.h "${opening}#include <dnnl.hpp>\n" "graph/bad.h: includes dnnl.hpp")
expect(1 graph/bad.h "${opening}#include <oneapi/dnnl/dnnl.hpp>\n" "includes oneapi/dnnl/dnnl.hpp")
expect(1 base/bad.cc "${opening}#include <gloo/context.h>\n" "includes gloo/context.h")
expect(1 base/bad.cc "${opening}#include <mpi.h>\n" "includes mpi.h")
expect(0 comm/good.cc "${opening}#include <mpi.h>\n#include <gloo/context.h>\n" "2 files include only")
expect(1 comm/bad.cc "${opening}#include <grpcpp/grpcpp.h>\n" "includes grpcpp/grpcpp.h")
expect(1 base/other.cc "${opening}#include <toml++/toml.h>\n" "includes toml")
expect(0 base/config.cc "${opening}#include <toml++/toml.h>\n" "2 files include only")
expect(1 graph/bad.cc "${opening}#include <CLI/CLI.hpp>\n" "includes CLI/CLI.hpp")
expect(1 base/bad.cc "#include <string>\n" "base/bad.cc:1: begins with")
expect(1 base/bad.cc "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n" "base/bad.cc:2: a sentence")

# Rooms of a module only look down.
expect(0 data/sets/good.cc "${opening}#include \"trireme/data/source/subset.h\"\n#include \"trireme/data/formats/png.h\"\n#include \"trireme/data/sets/own.h\"\n" "2 files include only")
expect(0 data/good.cc "${opening}#include \"trireme/data/sets/own.h\"\n#include \"trireme/data/other.h\"\n" "2 files include only")
expect(1 data/source/bad.h "${opening}#include \"trireme/data/sets/own.h\"\n" "data/source/bad.h: includes trireme/data/sets/own.h, but room source stands below sets")
expect(1 data/formats/bad.h "${opening}#include \"trireme/data/synthetic/digits.h\"\n" "room formats stands below synthetic or beside it")
expect(1 data/sets/bad.h "${opening}#include \"trireme/data/top.h\"\n" "room sets stands below \\. or beside it")
expect(1 data/attic/bad.cc "${opening}#include <string>\n" "declares no room attic of module data")

# What is for tests stays with them.
expect(0 graph/good_test.cc "${opening}#include \"trireme/base/testing/thrown.h\"\n" "2 files include only")
expect(0 data/testing/good.h "${opening}#include \"trireme/data/sets/own.h\"\n#include \"trireme/base/testing/thrown.h\"\n" "2 files include only")
expect(1 graph/bad.cc "${opening}#include \"trireme/base/testing/thrown.h\"\n" "graph/bad.cc: includes trireme/base/testing/thrown.h, which is for tests")
