/** What people see on a terminal, beside the results. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { shellCommand } from './command-line.ts'

const directory = mkdtempSync(join(tmpdir(), 'verdict-terminal-'))
const file = join(directory, 'file')
writeFileSync(file, 'carol write document:roadmap\n')

afterAll(() => rmSync(directory, { recursive: true }))

describe('a progress bar', () => {
  test.each([['bulk'], ['import --project default --env default']])(
    'goes with its command: verdict %s ends when nobody answers, and leaves the terminal as it was',
    async command => {
      const line = `script --quiet --return --command 'verdict ${command} ${file}' /dev/null`
      const { code, stdout } = await shellCommand(line, { VERDICT_URL: 'http://127.0.0.1:9' })
      expect([code, stdout]).toEqual([3, expect.stringMatching(/\nverdict: .* cannot be reached/)])
      // Nothing is to be turned on again, neither the cursor nor line wrapping, where a signal ends the command.
      expect(stdout).not.toContain('\u001B[?')
    },
  )
})
