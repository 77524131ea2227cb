# Checks that a program was built so that a mistake with memory is hard to use.
#   cmake -DBINARY=build/dev/trireme -P check_hardening.cmake
cmake_minimum_required(VERSION 3.25)

function(read_elf option out)
  execute_process(COMMAND readelf -W ${option} ${BINARY} OUTPUT_VARIABLE text RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "readelf cannot read ${BINARY}; it belongs to the package binutils")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(problems "")
macro(expect text pattern what)
  if(NOT "${text}" MATCHES "${pattern}")
    string(APPEND problems "  ${what}\n")
  endif()
endmacro()

read_elf(-h header)
read_elf(-l segments)
read_elf(-d dynamic)
read_elf(--dyn-syms symbols)
expect("${header}" "Type: +DYN" "it is not position-independent")
expect("${segments}" "GNU_RELRO" "relocations stay writable")
expect("${dynamic}" "BIND_NOW|Flags: NOW" "symbols are bound late, so their table stays writable")
expect("${segments}" "GNU_STACK +[^\n]* RW +0x" "the stack is executable")
expect("${symbols}" "__stack_chk_fail" "functions with arrays have no canary")
expect("${symbols}" "__(memcpy|snprintf|vsnprintf|read|fprintf|memmove|memset|strcpy|strncpy|pread64|fread)_chk" "library calls are not checked")

if(problems)
  message(FATAL_ERROR "${BINARY}:\n${problems}")
endif()
