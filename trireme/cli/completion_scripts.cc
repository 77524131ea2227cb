// SPDX-License-Identifier: Apache-2.0
// Scripts for bash, zsh and fish. Each passes the words up to the cursor and gets the lines that completion.h describes.
#include "trireme/cli/completion_scripts.h"

namespace trireme::cli {
namespace {

// Bash splits words at = and : as well; here they are joined again as they stand in the line, and what it keeps of the last word is taken
// off the candidates.
constexpr std::string_view kBash = R"script(# bash completion of trireme; made by: trireme completion bash
_trireme() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() i piece trimmed
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    ((i < COMP_CWORD)) || piece=$trimmed
    if ((i == 0)) || [[ $trimmed != "$rest" ]]; then words+=("$piece"); else words[${#words[@]} - 1]+=$piece; fi
    rest=${trimmed#"$piece"}
  done
  local word=${words[${#words[@]} - 1]} kept=''
  [[ $piece != +([=:]) ]] || piece=''
  [[ $COMP_WORDBREAKS != *[=:]* ]] || kept=${word%"$piece"}
  local program=${words[0]/#\~\//$HOME/} lines=() line candidate ending
  mapfile -t lines < <("$program" complete -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for line in "${lines[@]:1}"; do
    printf -v candidate '%q' "${line%%$'\t'*}"
    COMPREPLY+=("${candidate#"$kept"}")
  done
  ((${#COMPREPLY[@]} != 1)) || [[ ${COMPREPLY[0]} != *[=:/] ]] || compopt -o nospace
  case ${lines[0]} in
    folders)
      ((${#COMPREPLY[@]})) || { compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$piece"); }
      ;;
    files)
      compopt -o filenames
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$piece")
      ;;
    files\ *)
      compopt -o filenames
      for ending in ${lines[0]#files }; do
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X "!*.$ending" -- "$piece")
      done
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$piece")
      ;;
  esac
}
complete -F _trireme trireme
)script";

constexpr std::string_view kZsh = R"script(#compdef trireme
# zsh completion of trireme; made by: trireme completion zsh
_trireme() {
  local -a lines open closed
  local line text shown
  local program=${words[1]/#\~\//$HOME/}
  lines=("${(@f)$("$program" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    text=${line%%$'\t'*}
    shown=${text//:/\\:}
    [[ -z ${line#*$'\t'} ]] || shown+=:${line#*$'\t'}
    if [[ $text == *[=:/] ]]; then open+=("$shown"); else closed+=("$shown"); fi
  done
  local found=1
  (( ! $#closed )) || { _describe -V value closed && found=0 }
  (( ! $#open )) || { _describe -V setting open -S '' && found=0 }
  [[ $lines[1] != (folders|files*) || $PREFIX != --*=* ]] || compset -P '*='
  case $lines[1] in
    folders) (( $#closed )) || { _files -/ && found=0 } ;;
    files) _files && found=0 ;;
    files\ *) _files -g "*.(${${lines[1]#files }// /|})(-.)" && found=0 ;;
  esac
  return found
}
if [[ $funcstack[1] == _trireme ]]; then _trireme "$@"; else compdef _trireme trireme; fi
)script";

constexpr std::string_view kFish = R"script(# fish completion of trireme; made by: trireme completion fish
function __trireme_complete
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  set -e words[1]
  set -l lines ($program complete -- $words "$word" 2>/dev/null)
  set -l directive $lines[1]
  set -e lines[1]
  test (count $lines) -eq 0; or printf '%s\n' $lines
  test "$directive" = folders -a (count $lines) -gt 0; and return
  string match -qr '^(folders|files)' -- "$directive"; or return
  set -l option (string match -r '^--[^=]*=' -- "$word")
  set -l path (string replace -r '^--[^=]*=' '' -- "$word")
  set -l endings (string split -n ' ' -- (string replace -r '^(folders|files) ?' '' -- $directive))
  for file in (__fish_complete_path "$path")
    set -l name (string split -f 1 \t -- $file)
    if string match -q '*/' -- $name
      echo "$option$file"
    else if test "$directive" = files; or string match -qr '\.('(string join '|' $endings)')$' -- $name
      test "$directive" = folders; or echo "$option$file"
    end
  end
end
complete -c trireme -f -k -a '(__trireme_complete)'
)script";

}  // namespace

const std::vector<CompletionScript>& completion_scripts() {
  static const std::vector<CompletionScript> kScripts{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return kScripts;
}

}  // namespace trireme::cli
