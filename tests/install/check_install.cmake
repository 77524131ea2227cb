# Installs into a prefix, moves that, and runs the program from there.
#   cmake -DBUILD=build/dev -DFOLDER=... -DVERSION=0.1.0 -DHAS_MPI=1 -P check_install.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/first COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(RENAME ${FOLDER}/first ${FOLDER}/moved)

foreach(file IN ITEMS bin/trireme share/man/man1/trireme.1 share/man/man1/trireme-train.1 share/bash-completion/completions/trireme
    share/zsh/vendor-completions/_trireme share/fish/vendor_completions.d/trireme.fish share/doc/trireme/copyright
    share/doc/trireme/README.md share/doc/trireme/docs/install.md share/doc/trireme/examples/mlp.toml)
  if(NOT EXISTS ${FOLDER}/moved/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

set(trireme ${FOLDER}/moved/bin/trireme)
execute_process(COMMAND ${trireme} version --json OUTPUT_VARIABLE facts COMMAND_ERROR_IS_FATAL ANY)
string(JSON version GET "${facts}" version)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "it is version ${version}, not ${VERSION}")
endif()
string(JSON mpi GET "${facts}" features mpi)
if(HAS_MPI AND NOT mpi)
  message(FATAL_ERROR "the moved program does not find its part for MPI:\n${facts}")
endif()
# Two nodes: the program finds itself to start them.
execute_process(COMMAND ${trireme} train ${FOLDER}/moved/share/doc/trireme/examples/mlp.toml -n 2 --threads 1 --runs ${FOLDER}/runs
    --set data.samples=2000 --set train.epochs=1
  OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the training ended with ${code}:\n${text}")
endif()
execute_process(COMMAND ${trireme} predict ${FOLDER}/runs/latest --limit 3 OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
