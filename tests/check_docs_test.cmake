# check_docs.cmake must find each kind of fault: small trees with one fault each, and some without.
#   cmake -DCHECK=.../check_docs.cmake -DFOLDER=scratch -P check_docs_test.cmake

cmake_minimum_required(VERSION 3.25)

string(REPEAT "seven c" 22 words)            # 154 characters
string(REPEAT "ü" 160 umlauts)        # 160 characters, 320 bytes
set(longest "${words}123456")                # 160
set(too_long "${words}1234567")

# expect(RESULT file content message): the tree with this file gives RESULT (0 or 1) and says `message`.
function(expect result file content said)
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${FOLDER}/README.md "# First page\n\nSee [the other](docs/other.md).\n")
  file(WRITE ${FOLDER}/docs/other.md "# Other page\n\n## A heading, with `code`\n")
  file(WRITE ${FOLDER}/${file} "${content}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${CHECK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL result OR NOT "${out}${err}" MATCHES "${said}")
    message(FATAL_ERROR "${file}: expected ${result} and '${said}', got ${code}:\n${out}${err}")
  endif()
  file(REMOVE_RECURSE ${FOLDER})
endfunction()

expect(0 docs/page.md "A page.\n" "3 pages have short lines and working links")
expect(0 docs/page.md "${longest}\n" "3 pages")
expect(1 docs/page.md "A page.\n\n${too_long}\n" "docs/page.md:3: 161 characters; wrap it at 160")
expect(1 docs/page.md "- ${longest}\n" "docs/page.md:1: 162 characters")
expect(0 docs/page.md "${umlauts}\n" "3 pages")
expect(1 docs/page.md "${umlauts}ü\n" "docs/page.md:1: 161 characters")
expect(0 docs/page.md "| ${too_long} |\n" "3 pages")
expect(0 docs/page.md "```\n${too_long}\n```\n" "3 pages")
expect(1 docs/page.md "```\n```\n${too_long}\n" "docs/page.md:3: 161 characters")
expect(1 docs/page.md "```\n${too_long}\n" "docs/page.md: a code block is not closed")
expect(1 docs/page.md "a [list; of] brackets ]\n[ ; \\;\n${too_long}\n" "docs/page.md:3: 161 characters")

expect(0 docs/page.md "[up](../README.md) and [beside](other.md), [a folder](../docs), [the web](https://example.org/x)\n" "3 pages")
expect(1 docs/page.md "[good](other.md), [bad](othr.md)\n" "docs/page.md:1: links to othr.md, which does not exist")
expect(1 docs/page.md "| in a table | [bad](gone.md#x) |\n" "docs/page.md:1: links to gone.md, which does not exist")
expect(1 docs/page.md "![picture](picture.png)\n" "links to picture.png, which does not exist")
expect(0 docs/page.md "`[not a link](gone.md)`\n\n```\n[nor this](gone.md)\n```\n" "3 pages")
expect(0 docs/page.md "[there](other.md#a-heading-with-code)\n\n## Own\n\n[here](#own)\n" "3 pages")
expect(1 docs/page.md "[there](other.md#a-heading)\n" "docs/page.md:1: links to other.md#a-heading, but that page has no such heading")
expect(1 docs/page.md "[here](#nowhere)\n" "links to #nowhere, but that page has no such heading")

expect(0 build/page.md "${too_long}\n" "2 pages")
expect(0 build-asan/page.md "[bad](gone.md)\n" "2 pages")
expect(0 runs/x/report.md "${too_long}\n" "2 pages")
expect(0 web/node_modules/x/README.md "${too_long}\n" "2 pages")
expect(1 tests/faults/README.md "${too_long}\n" "tests/faults/README.md:1: 161 characters")
