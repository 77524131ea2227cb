# Tests BundlePage.cmake with made-up programs: without npm, and with one that fails, a source without the page is made; one that works is picked up.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/web ${FOLDER}/bin ${FOLDER}/empty)
foreach(name IN ITEMS package.json package-lock.json build.mjs)
  file(WRITE ${FOLDER}/web/${name} "{}\n")
endforeach()

function(make_program name text)
  file(WRITE ${FOLDER}/bin/${name} "#!/bin/sh\n${text}\n")
  file(CHMOD ${FOLDER}/bin/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# bundle(PATH page): runs the script with only the programs of that folder.
function(bundle path page)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=${path} ${CMAKE_COMMAND} -DWEB=${FOLDER}/web -DFOLDER=${FOLDER}/build -DGENERATED=${FOLDER}/page.cc
      -DPAGE=${page} -P ${SCRIPT} RESULT_VARIABLE result OUTPUT_VARIABLE words ERROR_VARIABLE words)
  set(result ${result} PARENT_SCOPE)
  set(words "${words}" PARENT_SCOPE)
  set(source "")
  if(EXISTS ${FOLDER}/page.cc)
    file(READ ${FOLDER}/page.cc source)
  endif()
  set(source "${source}" PARENT_SCOPE)
endfunction()

function(expect_no_page reason)
  string(REGEX REPLACE "[ \n]+" " " words "${words}")  # CMake breaks lines of its warnings
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the build would stop: ${words}")
  elseif(EXISTS ${FOLDER}/build/page.html)
    message(FATAL_ERROR "there is a page, so the next build would not try again")
  elseif(NOT source MATCHES "page_absence\\(\\) { return R\"page\\([^)]*${reason}")
    message(FATAL_ERROR "'${reason}' is not in the source: ${source}")
  elseif(ARGC GREATER 1 AND NOT words MATCHES "${ARGV1}")
    message(FATAL_ERROR "'${ARGV1}' is not among the words: ${words}")
  endif()
endfunction()

bundle(${FOLDER}/empty AUTO)
expect_no_page("node and npm were not found" "built without the page.*The next build tries again")
bundle(${FOLDER}/empty ON)
if(result EQUAL 0)
  message(FATAL_ERROR "TRIREME_PAGE=ON is content without a page")
endif()

make_program(node "echo v18.0.0")
make_program(npm "echo the network is gone >&2; exit 1")
bundle(${FOLDER}/bin AUTO)
expect_no_page("npm could not get the page" "the network is gone")
bundle(${FOLDER}/bin OFF)
expect_no_page("TRIREME_PAGE=OFF")

# node's arguments: build.mjs, packages, the page, the source.
make_program(npm "exit 0")
make_program(node "case $1 in --version) echo v18.0.0 ;; *) echo '<html>' >$3; echo 'the page is here' >$4 ;; esac")
bundle(${FOLDER}/bin AUTO)
if(NOT result EQUAL 0 OR NOT EXISTS ${FOLDER}/build/page.html OR NOT source MATCHES "the page is here")
  message(FATAL_ERROR "npm came back and was not picked up: ${words}")
endif()

# A mistake in the page's own sources is no reason to go without it.
make_program(node "case $1 in --version) echo v18.0.0 ;; *) exit 1 ;; esac")
bundle(${FOLDER}/bin AUTO)
if(result EQUAL 0)
  message(FATAL_ERROR "a page that can't be bundled did not stop the build")
endif()
make_program(node "echo v16.4.1")
bundle(${FOLDER}/bin AUTO)
expect_no_page("older than version 18")
