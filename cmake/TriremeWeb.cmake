# trireme_page: bundles web/ into one HTML text and compiles it into trireme_web; npm runs only when a package list changed.

find_program(TRIREME_NODE NAMES node nodejs)
find_program(TRIREME_NPM npm)
if(NOT TRIREME_NODE OR NOT TRIREME_NPM)
  message(FATAL_ERROR "node and npm bundle the dashboard's page, and at least one of them was not found: "
    "run scripts/install-packages, or install Debian's packages nodejs and npm")
endif()

function(trireme_page)
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(folder ${CMAKE_BINARY_DIR}/web)
  set(packages ${folder}/packages.stamp)
  set(generated ${CMAKE_BINARY_DIR}/generated/web_page.cc)
  file(MAKE_DIRECTORY ${folder} ${CMAKE_BINARY_DIR}/generated)

  # In the build directory, so that several builds of one source don't meet.
  add_custom_command(OUTPUT ${packages} DEPENDS ${web}/package.json ${web}/package-lock.json
    COMMAND ${CMAKE_COMMAND} -E copy ${web}/package.json ${web}/package-lock.json ${folder}
    COMMAND ${TRIREME_NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${packages}
    WORKING_DIRECTORY ${folder} COMMENT "Packages of the page" VERBATIM)

  file(GLOB sources CONFIGURE_DEPENDS ${web}/source/*)
  add_custom_command(OUTPUT ${generated} ${folder}/page.html DEPENDS ${packages} ${sources} ${web}/build.mjs
    COMMAND ${TRIREME_NODE} ${web}/build.mjs ${folder}/node_modules ${folder}/page.html ${generated}
    COMMENT "Bundling the page" VERBATIM)
  target_sources(trireme_web PRIVATE ${generated})
endfunction()
