# Compiler settings and dependencies shared by every module.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

option(TRIREME_WERROR "Treat warnings as errors" OFF)
option(TRIREME_FAILPOINTS "Places where tests can make a process die or fail; never in what users run" OFF)
option(TRIREME_FUZZ "Build the fuzz targets, which needs clang" OFF)
set(TRIREME_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the source count as relative, so that a clone at another place (a rehearsal, a work tree) finds what this one compiled.
  # A precompiled header differs from clone to clone, so what stands for it is a text of our own (see trireme_precompiled_headers).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true ${CCACHE})
endif()

# -O3 also in RelWithDebInfo: the kernels rely on the vectoriser, and tests should run what users run.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
if(TRIREME_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")  # what the sanitizers recommend; -O3 takes twice as long to compile with them
endif()

add_library(trireme_flags INTERFACE)
target_compile_options(trireme_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers  # designated initializers leave the rest at their defaults
  -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)  # gcc 12 finds them inside std::string and fmt at -O3, wrongly
if(TRIREME_WERROR)
  target_compile_options(trireme_flags INTERFACE -Werror)
endif()
if(TRIREME_SANITIZE)
  # Without recovery: what is found ends the test, it is not only printed.
  target_compile_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE})
  # Sanitizers start after ifunc resolvers run, so a sanitized build has no per-CPU clones.
  target_compile_definitions(trireme_flags INTERFACE TRIREME_SANITIZED)
endif()
target_include_directories(trireme_flags INTERFACE ${CMAKE_SOURCE_DIR})

# A mistake with memory shall be hard to use: code at random addresses and tables of functions that can't be written, in every build; and in
# what users run also canaries on the stack, checked library calls and marked targets of jumps. Sanitizers bring their own checks.
if(NOT TRIREME_SANITIZE)
  # A module that is loaded later (MPI's) is position-independent in its own way.
  set(is_module $<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>)
  target_compile_options(trireme_flags INTERFACE $<$<AND:$<CONFIG:Release>,$<NOT:${is_module}>>:-fPIE>)
  target_compile_options(trireme_flags INTERFACE $<$<CONFIG:Release>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
  target_link_options(trireme_flags INTERFACE $<$<NOT:${is_module}>:-pie> -Wl,-z,relro,-z,now)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fcf-protection=full TRIREME_HAS_CF_PROTECTION)
  if(TRIREME_HAS_CF_PROTECTION)
    target_compile_options(trireme_flags INTERFACE $<$<CONFIG:Release>:-fcf-protection=full>)
  endif()
endif()

find_package(OpenMP REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(dnnl REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(turbojpeg REQUIRED IMPORTED_TARGET libturbojpeg)
pkg_check_modules(cfitsio REQUIRED IMPORTED_TARGET cfitsio)
find_package(Protobuf REQUIRED)
find_package(Gloo REQUIRED)
pkg_check_modules(grpc REQUIRED IMPORTED_TARGET grpc++)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(PNG REQUIRED)
find_package(CURL REQUIRED)
find_package(LibArchive REQUIRED)
find_package(MPI QUIET COMPONENTS CXX)  # without it: no --launcher mpi

enable_testing()
include(GoogleTest)

# Headers that most files include, parsed once: half of the time that a small file takes. What a file needs it includes all the same: lint
# looks at it without them.
set(TRIREME_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional>
  <set> <span> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>)
option(TRIREME_PRECOMPILE "Precompile the headers that most files include" ON)

# trireme_precompiled_headers(NAME [header...]): a target whose headers others use by trireme_precompile(TARGET NAME). Flags that change code
# must be the same for both.
function(trireme_precompiled_headers name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
  target_link_libraries(${name} PRIVATE trireme_flags fmt::fmt OpenMP::OpenMP_CXX)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # ccache takes this text for the header's contents: whatever could change them must be in it.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.gch.sum
    CONTENT "${ARGN} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${TRIREME_SANITIZE} ${fmt_VERSION} ${GTest_VERSION}\n")
endfunction()

function(trireme_precompile target headers)
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

if(TRIREME_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  trireme_precompiled_headers(trireme_headers ${TRIREME_COMMON_HEADERS})
  trireme_precompiled_headers(trireme_test_headers ${TRIREME_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  target_link_libraries(trireme_test_headers PRIVATE GTest::gmock)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(trireme_test_headers PRIVATE -O1)  # as the programs that only tests run
  endif()
endif()
