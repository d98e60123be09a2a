/** Help about the settings, which `npm start -- --help` prints. */
import { settings } from './settings.ts'
import { fileName } from './secret-text.ts'
import type { SettingKind } from './setting-kinds.ts'

const INDENT = '    '

/** Returns the text of the help. `width` is the maximum length of a line. */
export function settingsHelp(width: number): string {
  const rows = Object.entries<SettingKind<unknown>>(settings).map(
    ([name, { shownDefault, meaning, isSecret }]) => {
      const also = isSecret ? `. ${fileName(name)}: path of a file that contains it` : ''
      return `  ${name}  (${plain(shownDefault)})\n${wrapped(plain(meaning) + also, width)}`
    },
  )
  return `Runs the service. Settings are environment variables. Invalid values are rejected at the start.\n\n${rows.join('\n')}\n`
}

function plain(text: string): string {
  return text.replaceAll('`', '')
}

function wrapped(text: string, width: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && INDENT.length + line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map(line => INDENT + line).join('\n')
}
