# Checks every file of ROOT/trireme: it includes only modules that its own declares in MODULES (build/modules.txt), and within a module only
# its own room and the rooms below it; third-party headers stay behind their fences, what is for tests (testing/) is included by tests only,
# and the file opens with the licence and a sentence.
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
  "^nlohmann/" "^base/json\\.h$"
  "^toml\\+\\+/" "^base/config\\.cc$"
  "^CLI/" "^cli/(arguments|application|command_description)\\.cc$")

# "graph: base;tensor" -> uses_graph = graph base tensor
# "train/ job,checkpoint staging,team" -> rooms_train = job checkpoint staging team, below_train_team = team job checkpoint staging
function(read_rooms module text)
  string(REPLACE "," ";" levels "${text}")
  set(below "")
  foreach(level IN LISTS levels)
    string(REPLACE " " ";" rooms "${level}")
    foreach(room IN LISTS rooms)
      set(below_${module}_${room} ${room} ${below} PARENT_SCOPE)
    endforeach()
    list(APPEND below ${rooms})
  endforeach()
  set(rooms_${module} ${below} PARENT_SCOPE)
endfunction()

file(STRINGS ${MODULES} rows)
foreach(row IN LISTS rows)
  if(row MATCHES "^([a-z_]+): ?(.*)$")
    set(name ${CMAKE_MATCH_1})
    set(uses_${name} ${name} ${CMAKE_MATCH_2})
  elseif(row MATCHES "^([a-z_]+)/ (.*)$")
    read_rooms(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
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

# room_of(RESULT data/readers/idx.cc) -> readers; of a file in the module's own folder -> .
function(room_of result file)
  if(file MATCHES "^[a-z_]+/([a-z_]+)/")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${result} . PARENT_SCOPE)
  endif()
endfunction()

function(check_room file)
  string(REGEX REPLACE "/.*" "" module ${file})
  room_of(room ${file})
  if(DEFINED rooms_${module} AND NOT room STREQUAL "testing" AND NOT room IN_LIST rooms_${module})
    problem("${file}: the root CMakeLists.txt declares no room ${room} of module ${module}")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

function(check_direction file header)
  string(REGEX REPLACE "/.*" "" module ${file})
  room_of(from ${file})
  string(REGEX REPLACE "^trireme/" "" target ${header})
  room_of(to ${target})
  if(to STREQUAL "testing" AND NOT from STREQUAL "testing" AND NOT file MATCHES "_test\\.cc$")
    problem("${file}: includes ${header}, which is for tests")
  elseif(target MATCHES "^${module}/" AND DEFINED below_${module}_${from} AND NOT to STREQUAL "testing" AND NOT to IN_LIST below_${module}_${from})
    problem("${file}: includes ${header}, but room ${from} stands below ${to} or beside it (see the root CMakeLists.txt)")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT}/trireme ${ROOT}/trireme/*.h ${ROOT}/trireme/*.cc)
if(NOT files)
  message(FATAL_ERROR "no sources under ${ROOT}/trireme")
endif()
foreach(file IN LISTS files)
  check_declared(${file})
  check_room(${file})
  check_opening(${file} ${ROOT}/trireme/${file})
  file(STRINGS ${ROOT}/trireme/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+).*" "\\1" header "${line}")
    check_fences(${file} ${header})
    check_module(${file} ${header})
    if(header MATCHES "^trireme/")
      check_direction(${file} ${header})
    endif()
  endforeach()
endforeach()

if(problems)
  message(FATAL_ERROR "\n${problems}")
endif()
list(LENGTH files count)
message(STATUS "${count} files include only what they may")
