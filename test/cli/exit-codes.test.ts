/** Exit codes where a command does not come to its own end. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/exit-codes.ts'
import { shellCommand, verdictCommand } from './command-line.ts'

describe('a defect of ours', () => {
  test('is exit code 4, with its stack', async () => {
    const broken = new Readable({ read: () => broken.destroy(new TypeError('unforeseen')) })
    const { code, stderr } = await verdictCommand(['bulk', '-'], { stdin: broken })
    expect([code, stderr]).toEqual([
      EXIT.defect,
      expect.stringMatching(/^verdict: .*TypeError: unforeseen\n +at /s),
    ])
  })

  test('is exit code 4 wherever in the process it shows', async () => {
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

test('the exit code says what it says where nobody can be told more', async () => {
  const line = 'verdict check carol write document:roadmap 2> /dev/full'
  expect((await shellCommand(line, { VERDICT_URL: 'http://127.0.0.1:9' })).code).toBe(EXIT.service)
})
