/**
 * Scripts that complete `verdict` commands in shells. They call the command line to get the possible next
 * words (`completion.ts`).
 */
import { COMPLETION_FLAG } from './completion.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Command that starts this program. The scripts need it on systems on which no `verdict` is installed. */
export type StartCommand = readonly string[]

export function completionScript(shell: Shell, program: StartCommand): string {
  const started = program.map(word => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  return SCRIPTS[shell](started)
}

const SCRIPTS: Readonly<Record<Shell, (started: string) => string>> = {
  bash: started => String.raw`# Completion of verdict for bash, printed by "verdict completion bash". Append it to ~/.bashrc.
command -v verdict > /dev/null || verdict() { ${started} "$@"; }
_verdict_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${'$'}{line%%$'\t'*}")
  done < <("${'$'}{COMP_WORDS[0]}" ${COMPLETION_FLAG} "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _verdict_complete verdict verdict-authz`,

  zsh: started => String.raw`# Completion of verdict for zsh, printed by "verdict completion zsh". Append it to ~/.zshrc.
(( $+commands[verdict] )) || verdict() { ${started} "$@"; }
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
_verdict_complete() {
  local line
  local -a lines
  while IFS= read -r line; do
    lines+=("${'$'}{${'$'}{line//:/\\:}/$'\t'/:}")
  done < <("${'$'}{words[1]}" ${COMPLETION_FLAG} "${'$'}{(@)words[2,CURRENT]}" 2> /dev/null)
  (( $#lines )) || { _default; return; }
  _describe verdict lines
}
compdef _verdict_complete verdict verdict-authz`,

  fish: started => String.raw`# Completion of verdict for fish, printed by "verdict completion fish". Append it to ~/.config/fish/config.fish.
if not type -q verdict
    function verdict
        ${started} $argv
    end
end
function __verdict_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] ${COMPLETION_FLAG} $words[2..-1] "$current" 2> /dev/null)
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    else
        __fish_complete_path "$current"
    end
end
complete -c verdict -f -a '(__verdict_complete)'
complete -c verdict-authz -f -a '(__verdict_complete)'`,
}
