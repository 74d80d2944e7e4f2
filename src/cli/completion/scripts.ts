export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * What a shell has to read to complete `tws`. It knows nothing of commands itself: for every key it
 * asks `tws complete`, so that it never is older than the program.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of tws for bash: eval "$(tws completion bash)"
_tws_completion() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" complete bash -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _tws_completion tws
`,
  zsh: `#compdef tws
# Completion of tws for zsh: eval "$(tws completion zsh)"
_tws_completion() {
  local value about
  local -a found folders
  while IFS=$'\\t' read -r value about; do
    if [[ $value == */ ]]; then
      folders+=("$value")
    else
      found+=("\${value//:/\\\\:}:$about")
    fi
  done < <("\${words[1]}" complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  (( \${#folders} )) && compadd -S '' -- "\${folders[@]}"
  (( \${#found} )) && _describe 'tws' found
}
if [[ $funcstack[1] == _tws ]]; then
  _tws_completion "$@"
else
  compdef _tws_completion tws
fi
`,
  fish: `# Completion of tws for fish: tws completion fish | source
function __tws_completion
    set -l words (commandline -opc)
    set -l name $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    command $name complete fish -- $words "$current" 2>/dev/null
end
complete -c tws -f -a '(__tws_completion)'
`,
};
