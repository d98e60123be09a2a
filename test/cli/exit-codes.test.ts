/** Commands that fail: exit codes, messages about arguments, and the state of the terminal. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandFiles, shellCommand, verdictCommand } from './command-line.ts'

const { directory, pathOf, written } = commandFiles()
const missing = pathOf('missing.yaml')
const questions = written('carol write document:roadmap\n', 'questions')

const CHECK = 'verdict check <user> <action> <resource>'
const ID_MESSAGE = 'id: expected a UUID with hyphens, got 16 characters; verdict keys list shows the ids'

test.each([
  ['check', `<user>, <action> and <resource> are missing: ${CHECK}; see verdict check --help`],
  ['check anna read', `<resource> is missing: ${CHECK}; see verdict check --help`],
  ['--output json check anna', `<action> and <resource> are missing: ${CHECK}; see verdict check --help`],
  ['keys rotate', '<id> is missing: verdict keys rotate <id>; see verdict keys rotate --help'],
  ['keys rotate verdict_a-secret', ID_MESSAGE],
  ['keys revoke verdict_a-secret', ID_MESSAGE],
  ['sessions end verdict_a-secret', ID_MESSAGE.replace('keys', 'sessions')],
  ['members', 'a command is required: list, show, invite, create, grant, revoke, remove or groups'],
  ['env copy a', '<target> is missing: verdict env copy <environment> <target>; see verdict env copy --help'],
  ['check a b c d', `"d" is an unexpected argument: ${CHECK}`],
  ['chekc a b c', 'unknown command "verdict chekc"; did you mean check?'],
  ['zzzzzz', 'unknown command "verdict zzzzzz"; see verdict --help'],
  ['keys lst', 'unknown command "verdict keys lst"; did you mean list?'],
  ['check a b c --tennant t', '--tennant: unknown option of verdict check; did you mean --tenant?'],
  ['check a b c --zzzz=t', '--zzzz: unknown option of verdict check; see verdict check --help'],
  [
    'status --output xml',
    '--output: expected one of "auto", "table", "json", got "xml"; see verdict status --help',
  ],
  [`apply ${missing}`, `${missing}: no such file or directory (ENOENT)`],
  [`test ${directory}`, `${directory}: expected a file, but this is a directory (EISDIR)`],
  [`bulk ${directory}`, `${directory}: expected a file, but this is a directory (EISDIR)`],
])('the error message of verdict %s names the cause', async (words, message) => {
  const { code, stdout, stderr } = await verdictCommand(words.split(' '))
  expect([code, stdout, stderr]).toEqual([EXIT.usage, '', `verdict: ${message}\n`])
})

test('the error message about VERDICT_OUTPUT names the variable', async () => {
  const { code, stderr } = await verdictCommand(['status'], { env: { VERDICT_OUTPUT: 'xml' } })
  expect([code, stderr]).toEqual([
    EXIT.usage,
    'verdict: VERDICT_OUTPUT: expected auto, table or json, got "xml"\n',
  ])
})

test('error messages are English in any locale', async () => {
  // Uses the sources, because the built form contains only English messages of the parser.
  const env = { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', VERDICT_FORM: 'sources' }
  const { stderr } = await shellCommand('verdict check anna', env)
  expect(stderr).toContain(`<action> and <resource> are missing: ${CHECK}`)
})

describe('an internal error', () => {
  test('has exit code 4, and its stack is printed', async () => {
    const broken = new Readable({ read: () => broken.destroy(new TypeError('unforeseen')) })
    const { code, stderr } = await verdictCommand(['bulk', '-'], { stdin: broken })
    expect([code, stderr]).toEqual([
      EXIT.defect,
      expect.stringMatching(/^verdict: .*TypeError: unforeseen\n +at /s),
    ])
  })

  test('also has exit code 4 if asynchronous code throws it', async () => {
    const late = encodeURI('process.once("beforeExit", () => { throw new TypeError("unforeseen") })')
    const { code, stderr } = await shellCommand('verdict schema > /dev/null', {
      NODE_OPTIONS: `--import=data:text/javascript,${late}`,
    })
    expect([code, stderr]).toEqual([
      EXIT.defect,
      expect.stringMatching(/^verdict: .*TypeError: unforeseen\n +at /s),
    ])
  })
})

test('the exit code is correct even if standard error cannot be written', async () => {
  const line = 'verdict check carol write document:roadmap 2> /dev/full'
  expect((await shellCommand(line, { VERDICT_URL: 'http://127.0.0.1:9' })).code).toBe(EXIT.service)
})

describe('a progress bar', () => {
  test.each([['bulk'], ['import --project default --env default']])(
    'disappears when verdict %s fails, and the terminal state is restored',
    async command => {
      const line = `script --quiet --return --command 'verdict ${command} ${questions}' /dev/null`
      const { code, stdout } = await shellCommand(line, { VERDICT_URL: 'http://127.0.0.1:9' })
      expect([code, stdout]).toEqual([3, expect.stringMatching(/\nverdict: .* cannot be reached/)])
      // The bar must not turn off the cursor or line wrapping, because a signal could end the command.
      expect(stdout).not.toContain('\u001B[?')
    },
  )
})
