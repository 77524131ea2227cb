# trireme_module and trireme_catalog: a module is a folder of trireme/, a catalogue is a folder of a module.

set(TRIREME_MODULES "" CACHE INTERNAL "")
set(TRIREME_MODULE_TABLE ${CMAKE_BINARY_DIR}/modules.txt)
file(WRITE ${TRIREME_MODULE_TABLE} "")

# trireme_module(NAME [USES module...] [ROOMS room...]): library trireme_NAME from trireme/NAME/*.cc, test trireme_NAME_test from the *_test.cc
# beside them. USES accepts only modules declared earlier, so a cycle can't be configured.
# ROOMS are the folders of a large module, lowest first: a room includes itself and the rooms before it ("." is the module's own folder; rooms
# in one pair of quotes stand beside each other and don't include each other). CheckIncludes.cmake sees to that.
# trireme/NAME/testing/ holds what only tests include, as target trireme_NAME_testing.
function(trireme_module name)
  cmake_parse_arguments(arg "" "" "USES;ROOMS" ${ARGN})
  foreach(used IN LISTS arg_USES)
    if(NOT used IN_LIST TRIREME_MODULES)
      message(FATAL_ERROR "module ${name} uses ${used}, which is not declared above it")
    endif()
  endforeach()
  set(TRIREME_MODULES ${TRIREME_MODULES} ${name} CACHE INTERNAL "")
  string(REPLACE ";" "," rooms "${arg_ROOMS}")
  file(APPEND ${TRIREME_MODULE_TABLE} "${name}: ${arg_USES}\n")
  if(rooms)
    file(APPEND ${TRIREME_MODULE_TABLE} "${name}/ ${rooms}\n")
  endif()

  set(folder ${CMAKE_SOURCE_DIR}/trireme/${name})
  string(REPLACE " " ";" rooms "${arg_ROOMS}")
  set(TRIREME_ROOMS_${name} ${rooms} CACHE INTERNAL "")
  set(patterns ${folder}/*.cc)
  foreach(room IN LISTS rooms)
    if(NOT IS_DIRECTORY ${folder}/${room})
      message(FATAL_ERROR "module ${name} declares room ${room}, but there is no folder trireme/${name}/${room}")
    endif()
    list(APPEND patterns ${folder}/${room}/*.cc)
  endforeach()
  list(REMOVE_ITEM patterns ${folder}/./*.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main|_kernels)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  set(libraries ${arg_USES})
  list(TRANSFORM libraries PREPEND trireme_)
  add_library(trireme_${name} STATIC ${sources})
  target_link_libraries(trireme_${name} PUBLIC trireme_flags ${libraries})
  if(NOT name STREQUAL "optim")  # its flags are its own
    trireme_precompile(trireme_${name} trireme_headers)
  endif()
  trireme_testing(${name} ${arg_USES})
  if(tests)
    trireme_test(trireme_${name}_test ${tests})
    target_link_libraries(trireme_${name}_test PRIVATE trireme_${name}_testing)
  endif()
endfunction()

# What tests of the module, and of those that use it, may include: trireme/NAME/testing/ and that of the modules it uses.
function(trireme_testing name)
  add_library(trireme_${name}_testing INTERFACE)
  target_link_libraries(trireme_${name}_testing INTERFACE trireme_${name} GTest::gmock)
  foreach(used IN LISTS ARGN)
    if(TARGET trireme_${used}_testing)
      target_link_libraries(trireme_${name}_testing INTERFACE trireme_${used}_testing)
    endif()
  endforeach()
endfunction()

# trireme_test(NAME source... [PROPERTIES ctest's]): a GoogleTest program, each of whose tests ctest knows by name.
function(trireme_test name)
  cmake_parse_arguments(arg "" "" "PROPERTIES" ${ARGN})
  trireme_test_program(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  # Tests share the cores: threads that wait must not spin.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive ${arg_PROPERTIES})
endfunction()

# trireme_test_program(NAME source...): a program that only tests run.
function(trireme_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE trireme_flags GTest::gmock)
  trireme_precompile(${name} trireme_test_headers)
  # What is tested is compiled as users have it; a test itself is run once, and compiled in half the time.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${name} PRIVATE -O1)
  endif()
  # gcc 12 finds it, wrongly, in option structs written inside a call: b.conv2d(b.input(s), {.filters = 3})
  target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
endfunction()

# Writes the source of a catalogue: calls of the entries of `sources`, in their order.
function(trireme_catalog_source generated module type folder sources)
  string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" header ${type})
  string(TOLOWER ${header} header)
  file(GLOB header RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/trireme/${module}/${header}.h ${CMAKE_SOURCE_DIR}/trireme/${module}/*/${header}.h)
  list(LENGTH header headers)
  if(NOT headers EQUAL 1)
    message(FATAL_ERROR "catalogue ${module}/${folder}: there must be one header that declares ${type}, found: ${header}")
  endif()

  set(declarations "")
  set(calls "")
  foreach(source IN LISTS sources)
    get_filename_component(entry ${source} NAME_WE)
    if(entry MATCHES "^(switch|export|default|new|delete|union)$")
      set(entry ${entry}_)  # a C++ keyword as a file name
    endif()
    string(APPEND declarations "${type} ${entry}();\n")
    string(APPEND calls "      ${entry}(),\n")
  endforeach()

  file(CONFIGURE OUTPUT ${generated} CONTENT
"// Generated from the files of trireme/${module}/${folder}/; add an entry by adding a file there.
#include <vector>

#include \"${header}\"

namespace trireme::${module}::${folder} {
${declarations}
const std::vector<${type}>& catalog() {
  static const std::vector<${type}> entries{
${calls}  };
  return entries;
}
}  // namespace trireme::${module}::${folder}
")
endfunction()

# trireme_catalog(MODULE Type folder): each trireme/MODULE/folder/x.cc defines `Type x()` in namespace
# trireme::MODULE::folder; the generated catalog() lists them all. A missing definition is a link error.
# Type is declared in <type_in_snake_case>.h of the module or of one of its rooms; that header also declares `folder::catalog()`.
set(TRIREME_CATALOGS "" CACHE INTERNAL "")
function(trireme_catalog module type folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/trireme/${module}/${folder}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(TRIREME_CATALOGS ${TRIREME_CATALOGS} "${module} ${type} ${folder}" CACHE INTERNAL "")
  set(TRIREME_ENTRIES_${module}_${folder} ${sources} CACHE INTERNAL "")
  set(generated ${CMAKE_BINARY_DIR}/generated/${module}_${folder}_catalog.cc)
  trireme_catalog_source(${generated} ${module} ${type} ${folder} "${sources}")
  target_sources(trireme_${module} PRIVATE ${generated})
  if(folder IN_LIST TRIREME_ROOMS_${module})
    return()  # its files are the module's already
  endif()
  target_sources(trireme_${module} PRIVATE ${sources})
  if(tests)
    trireme_test(trireme_${module}_${folder}_test ${tests})
    target_link_libraries(trireme_${module}_${folder}_test PRIVATE trireme_${module}_testing)
  endif()
endfunction()

# trireme_program(NAME FOLDER): the program with entries of FOLDER/MODULE/CATALOGUE/*.cc beside the tree's own. Its larger catalogues stand
# before those in the libraries, which the linker then leaves out: each is an object of its own with nothing else in it.
function(trireme_program name additions)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/trireme/cli/main.cc)
  foreach(catalog IN LISTS TRIREME_CATALOGS)
    string(REPLACE " " ";" parts ${catalog})
    list(POP_FRONT parts module type folder)
    file(GLOB added CONFIGURE_DEPENDS ${additions}/${module}/${folder}/*.cc)
    if(NOT added)
      continue()
    endif()
    set(generated ${CMAKE_BINARY_DIR}/generated/${name}/${module}_${folder}_catalog.cc)
    trireme_catalog_source(${generated} ${module} ${type} ${folder} "${TRIREME_ENTRIES_${module}_${folder}};${added}")
    target_sources(${name} PRIVATE ${generated} ${added})
  endforeach()
  target_link_libraries(${name} PRIVATE trireme_cli CLI11::CLI11)
endfunction()

# trireme_kernels(MODULE file): compiles trireme/MODULE/file once per instruction set, each time with
# TRIREME_ISA naming the namespace it fills, so that one binary holds them all and chooses when it starts.
function(trireme_kernels module file)
  set(flags_avx512 -march=skylake-avx512 -mprefer-vector-width=512)
  set(flags_avx2 -march=haswell)
  set(flags_generic -march=x86-64-v2)
  get_filename_component(stem ${file} NAME_WE)
  foreach(isa IN ITEMS avx512 avx2 generic)
    add_library(${stem}_${isa} OBJECT ${CMAKE_SOURCE_DIR}/trireme/${module}/${file})
    target_link_libraries(${stem}_${isa} PRIVATE trireme_flags OpenMP::OpenMP_CXX)
    target_compile_options(${stem}_${isa} PRIVATE ${flags_${isa}} -fno-math-errno -fno-trapping-math
      -ffp-contract=fast -Wno-psabi)
    target_compile_definitions(${stem}_${isa} PRIVATE TRIREME_ISA=${isa})
    target_sources(trireme_${module} PRIVATE $<TARGET_OBJECTS:${stem}_${isa}>)
  endforeach()
endfunction()

# The module wire: messages of trireme/wire/*.proto; x.proto is included as "trireme/wire/x.pb.h".
function(trireme_wire)
  set(TRIREME_MODULES ${TRIREME_MODULES} wire CACHE INTERNAL "")
  file(APPEND ${TRIREME_MODULE_TABLE} "wire: \n")
  file(GLOB protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/trireme/wire/*.proto)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  add_library(trireme_wire STATIC)
  foreach(proto IN LISTS protos)
    get_filename_component(stem ${proto} NAME_WE)
    set(outputs ${generated}/trireme/wire/${stem}.pb.cc ${generated}/trireme/wire/${stem}.pb.h)
    add_custom_command(OUTPUT ${outputs} DEPENDS ${proto}
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${generated} ${proto} VERBATIM)
    target_sources(trireme_wire PRIVATE ${outputs})
  endforeach()
  target_compile_features(trireme_wire PUBLIC cxx_std_20)
  # Generated code is not ours to keep free of warnings.
  target_include_directories(trireme_wire SYSTEM PUBLIC ${generated})
  target_link_libraries(trireme_wire PUBLIC protobuf::libprotobuf)
endfunction()

# Third-party libraries, each linked only where its fence stands.
function(trireme_fences)
  target_link_libraries(trireme_base PUBLIC fmt::fmt OpenMP::OpenMP_CXX nlohmann_json::nlohmann_json PRIVATE spdlog::spdlog tomlplusplus::tomlplusplus OpenSSL::Crypto)
  target_link_libraries(trireme_data PRIVATE ZLIB::ZLIB LibLZMA::LibLZMA PNG::PNG PkgConfig::turbojpeg PkgConfig::cfitsio)
  target_link_libraries(trireme_fetch PRIVATE CURL::libcurl LibArchive::LibArchive PNG::PNG)
  target_link_libraries(trireme_fetch_test PRIVATE LibArchive::LibArchive)
  target_link_libraries(trireme_comm PRIVATE gloo)
  target_link_libraries(trireme_rpc PRIVATE PkgConfig::grpc OpenSSL::Crypto)
  target_link_libraries(trireme_rpc_test PRIVATE PkgConfig::grpc OpenSSL::Crypto)
  target_link_libraries(trireme_engine PRIVATE DNNL::dnnl PkgConfig::hwloc)
  trireme_kernels(engine kernels/blocked_kernels.cc)
  trireme_kernels(engine kernels/flat_kernels.cc)
  trireme_kernels(comm reduction_kernels.cc)

  target_link_libraries(trireme_comm PRIVATE ${CMAKE_DL_LIBS})

  add_executable(trireme ${CMAKE_SOURCE_DIR}/trireme/cli/main.cc)
  target_link_libraries(trireme PRIVATE trireme_cli)
  trireme_mpi()
  target_link_libraries(trireme_cli PRIVATE CLI11::CLI11)
endfunction()

# MPI brings dozens of libraries along, so it is linked with a shared object that the program loads under mpirun only.
function(trireme_mpi)
  if(NOT MPI_CXX_FOUND)
    message(WARNING "MPI was not found (Debian: libopenmpi-dev openmpi-bin); --launcher mpi will not be there")
    return()
  endif()
  add_library(trireme_mpi MODULE ${CMAKE_SOURCE_DIR}/trireme/comm/mpi/functions.cc)
  target_link_libraries(trireme_mpi PRIVATE trireme_flags MPI::MPI_CXX)
  target_compile_definitions(trireme_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set_target_properties(trireme_mpi PROPERTIES PREFIX lib)
  add_dependencies(trireme trireme_mpi)
endfunction()

# What `trireme version` says of this build. The commit is looked up by every build; it is in a small file of the last module, so a new one
# compiles that file and links the program again, nothing else.
function(trireme_version)
  set(generated ${CMAKE_BINARY_DIR}/generated/commit.cc)
  set(command ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DGENERATED=${generated} -P ${CMAKE_SOURCE_DIR}/cmake/WriteCommit.cmake)
  add_custom_target(trireme_commit COMMAND ${command} BYPRODUCTS ${generated} COMMENT "Looking up the commit" VERBATIM)
  target_sources(trireme_cli PRIVATE ${generated})
  add_dependencies(trireme_cli trireme_commit)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/trireme/cli/version_facts.cc PROPERTIES COMPILE_DEFINITIONS TRIREME_BUILD_TYPE="${CMAKE_BUILD_TYPE}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/trireme/data/formats/libraries.cc TARGET_DIRECTORY trireme_data
    PROPERTIES COMPILE_DEFINITIONS TRIREME_TURBOJPEG_VERSION="${turbojpeg_VERSION}")
endfunction()
