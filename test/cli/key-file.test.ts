/** The key of the command line from a file, by the rule that the service's secrets go by. */
import { describe, expect, test } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const { written: keyFile } = commandFiles()
const service = await sharedService()

function status(env: Readonly<Record<string, string>>, ...options: readonly string[]) {
  return verdictCommand(['status', ...options], { env: { VERDICT_URL: service.address, ...env } })
}

/** What only a key opens. */
const COUNTED = { code: 0, stdout: expect.stringContaining('"assignments":') }

describe('VERDICT_KEY_FILE', () => {
  test.each(['', '\n', '\r\n'])('names a file that holds the key, and may end with %j', async end => {
    expect(await status({ VERDICT_KEY_FILE: keyFile(API_KEY + end) })).toMatchObject(COUNTED)
  })

  test('counts beside an empty VERDICT_KEY', async () => {
    expect(await status({ VERDICT_KEY: '', VERDICT_KEY_FILE: keyFile(API_KEY) })).toMatchObject(COUNTED)
  })

  test('gives way to --key', async () => {
    const env = { VERDICT_KEY_FILE: '/nowhere/at/all' }
    expect(await status(env, '--key', API_KEY)).toMatchObject(COUNTED)
  })

  test('beside a VERDICT_KEY is refused, and neither is shown', async () => {
    const told = await status({ VERDICT_KEY: 'one-secret', VERDICT_KEY_FILE: keyFile('other-secret') })
    expect(told).toEqual({
      code: 2,
      stdout: '',
      stderr: 'verdict: VERDICT_KEY: VERDICT_KEY_FILE is set, too: one place is enough\n',
    })
  })

  test('of a file that cannot be read is refused by its name', async () => {
    const told = await status({ VERDICT_KEY_FILE: '/nowhere/at/all' })
    expect(told).toMatchObject({ code: 2, stdout: '' })
    expect(told.stderr).toMatch(/^verdict: VERDICT_KEY: VERDICT_KEY_FILE cannot be read: ENOENT.*\n$/)
  })

  test('with what is no key is refused without showing it', async () => {
    const told = await status({ VERDICT_KEY_FILE: keyFile('schlüssel') })
    expect(told).toMatchObject({ code: 2, stdout: '' })
    expect(told.stderr).not.toContain('schl')
  })
})
