/** The command line reads its key from a file by the rules that apply to secrets of the service. */
import { describe, expect, test } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const { written: keyFile } = commandFiles()
const service = await sharedService()

function status(env: Readonly<Record<string, string>>, ...options: readonly string[]) {
  return verdictCommand(['status', ...options], { env: { VERDICT_URL: service.address, ...env } })
}

/** Expected output of a command that needs a valid key. */
const COUNTED = { code: 0, stdout: expect.stringContaining('"assignments":') }

describe('the setting VERDICT_KEY_FILE', () => {
  test.each(['', '\n', '\r\n'])('names a file with the key, and the file can end with %j', async end => {
    expect(await status({ VERDICT_KEY_FILE: keyFile(API_KEY + end) })).toMatchObject(COUNTED)
  })

  test('takes effect if VERDICT_KEY is empty', async () => {
    expect(await status({ VERDICT_KEY: '', VERDICT_KEY_FILE: keyFile(API_KEY) })).toMatchObject(COUNTED)
  })

  test('is overridden by --key', async () => {
    const env = { VERDICT_KEY_FILE: '/nowhere/at/all' }
    expect(await status(env, '--key', API_KEY)).toMatchObject(COUNTED)
  })

  test('is rejected if VERDICT_KEY is also set, and the message contains no secret', async () => {
    const told = await status({ VERDICT_KEY: 'one-secret', VERDICT_KEY_FILE: keyFile('other-secret') })
    expect(told).toEqual({
      code: 2,
      stdout: '',
      stderr: 'verdict: VERDICT_KEY: VERDICT_KEY_FILE is also set; set only one of them\n',
    })
  })

  test('is rejected with the name of a file that cannot be read', async () => {
    const told = await status({ VERDICT_KEY_FILE: '/nowhere/at/all' })
    expect(told).toMatchObject({ code: 2, stdout: '' })
    expect(told.stderr).toMatch(/^verdict: VERDICT_KEY: VERDICT_KEY_FILE cannot be read: ENOENT.*\n$/)
  })

  test('is rejected without printing the content if the key is not valid', async () => {
    const told = await status({ VERDICT_KEY_FILE: keyFile('schlüssel') })
    expect(told).toMatchObject({ code: 2, stdout: '' })
    expect(told.stderr).not.toContain('schl')
  })
})
