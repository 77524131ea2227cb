# Has the program write its manual pages and completion scripts:  cmake -DBINARY=build/dev/trireme -DFOLDER=build/dev/install -P WriteTexts.cmake
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${BINARY} man --out ${FOLDER}/man COMMAND_ERROR_IS_FATAL ANY)
foreach(shell IN ITEMS bash zsh fish)
  execute_process(COMMAND ${BINARY} completion ${shell} OUTPUT_FILE ${FOLDER}/trireme.${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
