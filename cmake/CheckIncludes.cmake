# Checks every file of ROOT/trireme: it includes only modules that its own declares in MODULES (build/modules.txt),
# third-party headers stay behind their fences, and it opens with the licence and a sentence.
#   cmake -DROOT=... -DMODULES=build/dev/modules.txt -P CheckIncludes.cmake

cmake_minimum_required(VERSION 3.25)

set(LICENCE "// SPDX-License-Identifier: Apache-2.0")
set(problems "")

# Fences: a header that matches the first may be included only by files that match the second.
set(fences
  "^(oneapi/)?dnnl" "^engine/"
  "^gloo/" "^comm/"
  "^mpi\\.h$" "^comm/"
  "^grpcpp/" "^rpc/"
  "^google/protobuf" "^(wire|data|observe|coord|train)/"
  "^(turbojpeg|jpeglib|png|fitsio)\\.h$" "^(data|fetch)/"
  "^(curl/|archive)" "^fetch/"
  "^openssl/" "^(base|rpc)/"
  "^toml\\+\\+/" "^base/config\\.cc$"
  "^CLI/" "^cli/")

# "graph: base;tensor" -> uses_graph = graph base tensor
file(STRINGS ${MODULES} rows)
foreach(row IN LISTS rows)
  if(row MATCHES "^([a-z_]+): ?(.*)$")
    set(name ${CMAKE_MATCH_1})
    set(uses_${name} ${name} ${CMAKE_MATCH_2})
  else()
    list(APPEND uses_${name} ${row})  # file(STRINGS) split the row at its semicolons
  endif()
endforeach()

macro(problem text)
  string(APPEND problems "  ${text}\n")
endmacro()

function(check_opening file path)
  file(STRINGS ${path} lines LIMIT_COUNT 2)
  list(POP_FRONT lines first second)
  if(NOT first STREQUAL LICENCE)
    problem("${file}:1: begins with '${LICENCE}' in every file")
  elseif(NOT second MATCHES "^// [^ ]+ [^ ]")
    problem("${file}:2: a sentence saying what the file is must follow the licence")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

function(check_fences file header)
  set(rest ${fences})
  while(rest)
    list(POP_FRONT rest fenced allowed)
    if(header MATCHES "${fenced}" AND NOT file MATCHES "${allowed}")
      problem("${file}: includes ${header}, which is only for files matching ${allowed}")
    endif()
  endwhile()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

function(check_declared file)
  string(REGEX REPLACE "/.*" "" module ${file})
  if(NOT DEFINED uses_${module})
    problem("${file}: the root CMakeLists.txt declares no module ${module}")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

function(check_module file header)
  string(REGEX REPLACE "/.*" "" module ${file})
  if(header MATCHES "^trireme/([a-z_]+)/" AND NOT CMAKE_MATCH_1 IN_LIST uses_${module})
    problem("${file}: includes ${header}, but ${module} does not use ${CMAKE_MATCH_1} (see the root CMakeLists.txt)")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT}/trireme ${ROOT}/trireme/*.h ${ROOT}/trireme/*.cc)
if(NOT files)
  message(FATAL_ERROR "no sources under ${ROOT}/trireme")
endif()
foreach(file IN LISTS files)
  check_declared(${file})
  check_opening(${file} ${ROOT}/trireme/${file})
  file(STRINGS ${ROOT}/trireme/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+).*" "\\1" header "${line}")
    check_fences(${file} ${header})
    check_module(${file} ${header})
  endforeach()
endforeach()

if(problems)
  message(FATAL_ERROR "\n${problems}")
endif()
list(LENGTH files count)
message(STATUS "${count} files include only what they may")
