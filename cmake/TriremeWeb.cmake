# trireme_page: bundles web/ into one HTML text and compiles it into trireme_web; npm runs only when a package list changed.

set(TRIREME_PAGE AUTO CACHE STRING "The page of dashboard and reports, which npm's packages are needed for. AUTO: where they can be had; ON: or the build fails; OFF: never")
set_property(CACHE TRIREME_PAGE PROPERTY STRINGS AUTO ON OFF)
find_program(TRIREME_NODE NAMES node nodejs)
find_program(TRIREME_NPM npm)
if(TRIREME_PAGE STREQUAL "AUTO" AND NOT (TRIREME_NODE AND TRIREME_NPM))
  message(WARNING "node and npm bundle the dashboard's page, and at least one of them was not found: trireme is built without the page, "
    "and `trireme dashboard` will say so. Run scripts/install-packages, or install Debian's packages nodejs and npm, and build again.")
endif()

# trireme_bundle(OUTPUT generated.cc FOLDER folder PAGE AUTO|ON|OFF): BundlePage.cmake looks for npm when it runs, and runs again in the next build if it made no page.
function(trireme_bundle)
  cmake_parse_arguments(arg "" "OUTPUT;FOLDER;PAGE" "" ${ARGN})
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(script ${CMAKE_SOURCE_DIR}/cmake/BundlePage.cmake)
  set(outputs ${arg_OUTPUT})
  if(NOT arg_PAGE STREQUAL "OFF")
    list(APPEND outputs ${arg_FOLDER}/page.html)  # missing after a failure, so that the next build tries again
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${web}/source/*)
  add_custom_command(OUTPUT ${outputs} DEPENDS ${web}/package.json ${web}/package-lock.json ${web}/build.mjs ${sources} ${script}
    COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DFOLDER=${arg_FOLDER} -DGENERATED=${arg_OUTPUT} -DPAGE=${arg_PAGE} -P ${script}
    COMMENT "Bundling the page" VERBATIM)
endfunction()

function(trireme_page)
  set(generated ${CMAKE_BINARY_DIR}/generated/web_page.cc)
  # In the build directory, so that several builds of one source don't meet.
  trireme_bundle(OUTPUT ${generated} FOLDER ${CMAKE_BINARY_DIR}/web PAGE ${TRIREME_PAGE})
  target_sources(trireme_web PRIVATE ${generated})
endfunction()
