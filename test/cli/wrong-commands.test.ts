/** Commands that mean nothing: what is said names what is missing, what is too much, and what was probably meant. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/exit-codes.ts'
import { shellCommand, verdictCommand } from './command-line.ts'

const directory = mkdtempSync(join(tmpdir(), 'verdict-wrong-'))
const missing = join(directory, 'missing.yaml')

afterAll(() => rmSync(directory, { recursive: true }))

const CHECK = 'verdict check <user> <action> <resource>'

test.each([
  ['check', `${CHECK}: <user>, <action> and <resource> are missing; see verdict check --help`],
  ['check anna read', `${CHECK}: <resource> is missing; see verdict check --help`],
  ['--output json check anna', `${CHECK}: <action> and <resource> are missing; see verdict check --help`],
  ['keys rotate', 'verdict keys rotate <id>: <id> is missing; see verdict keys rotate --help'],
  ['keys rotate verdict_a-secret', 'that is no id of a key: verdict keys list shows them'],
  ['keys revoke verdict_a-secret', 'that is no id of a key: verdict keys list shows them'],
  ['env copy a', 'verdict env copy <environment> <target>: <target> is missing; see verdict env copy --help'],
  ['check a b c d', `"d" is one argument too many: ${CHECK}`],
  ['chekc a b c', 'verdict chekc: there is no such command; did you mean check?'],
  ['zzzzzz', 'verdict zzzzzz: there is no such command; see verdict --help'],
  ['keys lst', 'verdict keys lst: there is no such command; did you mean list?'],
  ['check a b c --tennant t', '--tennant: verdict check has no such option; did you mean --tenant?'],
  ['check a b c --zzzz=t', '--zzzz: verdict check has no such option; see verdict check --help'],
  [
    'status --output xml',
    '--output: expected one of "auto", "table", "json", got "xml"; see verdict status --help',
  ],
  [`apply ${missing}`, `${missing}: there is no such file or directory (ENOENT)`],
  [`test ${directory}`, `${directory}: this is a directory; expected a file (EISDIR)`],
  [`bulk ${directory}`, `${directory}: this is a directory; expected a file (EISDIR)`],
])('verdict %s', async (words, message) => {
  const { code, stdout, stderr } = await verdictCommand(words.split(' '))
  expect([code, stdout, stderr]).toEqual([EXIT.usage, '', `verdict: ${message}\n`])
})

test('messages are English, whatever the terminal speaks', async () => {
  // Of the sources: the built form has the parser's English alone.
  const env = { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', VERDICT_FORM: 'sources' }
  const { stderr } = await shellCommand('verdict check anna', env)
  expect(stderr).toContain(`verdict: ${CHECK}: <action> and <resource> are missing`)
})
