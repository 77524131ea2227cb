# WriteCommit.cmake: the commit of a clone, whether it was changed, "unknown" elsewhere, and no new file where nothing changed.
#   cmake -DSCRIPT=cmake/WriteCommit.cmake -DFOLDER=... -P check_commit.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/clone/inside)
find_program(git git REQUIRED)

function(run)
  execute_process(COMMAND ${git} -C ${FOLDER}/clone -c user.name=a -c user.email=a@b -c commit.gpgsign=false ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(expect root pattern)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DGENERATED=${FOLDER}/commit.cc -P ${SCRIPT} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/commit.cc text)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "of ${root}, for ${pattern}:\n${text}")
  endif()
endfunction()

file(WRITE ${FOLDER}/clone/a "1")
run(init --quiet)
run(add a)
run(commit --quiet -m first)
expect(${FOLDER}/clone "hash = \"[0-9a-f]+\", .is_modified = false")
execute_process(COMMAND touch -d 2001-02-03 ${FOLDER}/commit.cc COMMAND_ERROR_IS_FATAL ANY)
expect(${FOLDER}/clone "is_modified = false")
file(TIMESTAMP ${FOLDER}/commit.cc year "%Y")
if(NOT year STREQUAL 2001)
  message(FATAL_ERROR "the file was written again though nothing changed")
endif()
file(WRITE ${FOLDER}/clone/a "2")
expect(${FOLDER}/clone "is_modified = true")
expect(${FOLDER}/clone/inside "hash = \"unknown\"")  # an archive that was unpacked within another's clone
