/** The scripts that `verdict completion` prints, tested in their shells. */
import { spawn, spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { SHELLS, type Shell } from '../../src/cli/command-line/shell-scripts.ts'
import { HANG_MS } from '../support/hang.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const { directory, written } = commandFiles()
// The PATH does not contain `verdict`, so the script must contain the path of this checkout.
const env = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: directory,
  ZDOTDIR: directory,
  TERM: 'dumb',
  LANG: 'C.UTF-8',
}

beforeAll(async () => {
  written('', 'a-model.yaml')
  for (const shell of SHELLS) {
    const { code, stdout } = await verdictCommand(['completion', shell])
    expect(code).toBe(EXIT.yes)
    // As documented, at the end of the startup file of the shell.
    const prompt = shell === 'fish' ? '' : "PS1='READY> '\n"
    written(`${prompt}${stdout}`, shell === 'zsh' ? '.zshrc' : `${shell}-rc`)
  }
})

/** Tests of a shell, which are skipped if it is not installed. */
const inShell = (shell: Shell) => describe.skipIf(spawnSync(shell, ['--version'], { env }).status !== 0)

/** Types text and a tab into a shell on a terminal, and waits until the output contains `until`. */
async function typed(shell: string, keys: string, until: string): Promise<void> {
  const child = spawn('script', ['--quiet', '--return', '--command', shell, '/dev/null'], {
    env,
    cwd: directory,
    timeout: HANG_MS,
  })
  let shown = ''
  let isTyped = false
  await new Promise<void>(resolve => {
    child.on('close', () => resolve())
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      if (!isTyped && shown.includes('READY> ')) {
        isTyped = true
        child.stdin.write(`${keys}\t`)
      }
      if (isTyped && stripVTControlCharacters(shown).replaceAll('\r', '').includes(until)) child.kill()
    })
  })
  expect(stripVTControlCharacters(shown).replaceAll('\r', '')).toContain(until)
}

const COMPLETED: readonly [keys: string, completed: string][] = [
  ['verdict expl', 'verdict explain '],
  ['verdict keys rot', 'verdict keys rotate '],
  ['verdict check anna read --ten', 'verdict check anna read --tenant '],
  ['verdict status --output ta', 'verdict status --output table '],
  ['verdict --env staging stat', 'verdict --env staging status '],
  ['verdict apply a-m', 'verdict apply a-model.yaml '],
]

inShell('bash')('bash (skipped without it)', () => {
  test.each(COMPLETED)('completes %j', async (keys, completed) => {
    await typed('bash --noprofile --rcfile bash-rc -i', keys, completed)
  })

  test('completes the value in --output=ta', async () => {
    await typed('bash --noprofile --rcfile bash-rc -i', 'verdict status --output=ta', '--output=table ')
  })
})

inShell('zsh')('zsh (skipped without it)', () => {
  test.each(COMPLETED)('completes %j', async (keys, completed) => {
    await typed('zsh -i', keys, completed)
  })
})

test('completion uses the shell in SHELL, and requires an argument for other shells', async () => {
  const printed = async (args: readonly string[], SHELL: string) =>
    verdictCommand(['completion', ...args], { env: { SHELL } })
  for (const shell of SHELLS) {
    const { stdout } = await printed([], `/usr/bin/${shell}`)
    expect(stdout).toContain(`Completion of verdict for ${shell},`)
    expect((await printed([shell], '/bin/sh')).stdout).toBe(stdout)
  }
  const { code, stdout, stderr } = await printed([], '/bin/sh')
  expect([code, stdout]).toEqual([EXIT.usage, ''])
  expect(stderr).toContain('verdict completion zsh')
})

inShell('fish')('fish (skipped without it)', () => {
  test.each(COMPLETED)('completes %j', (keys, completed) => {
    const { stdout } = spawnSync(
      'fish',
      ['--no-config', '-c', `source fish-rc; complete -C ${JSON.stringify(keys)}`],
      {
        env,
        cwd: directory,
        encoding: 'utf8',
      },
    )
    const [, last = ''] = /(\S*)\s*$/.exec(completed) ?? []
    expect(stdout).toMatch(new RegExp(`^${last}`, 'm'))
  })
})
