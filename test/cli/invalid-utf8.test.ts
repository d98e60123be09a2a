/** Files with invalid UTF-8 are rejected: replacement characters would make two keys equal. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const service = await sharedService()
const { pathOf, written } = commandFiles()
const file = pathOf('input')
const env = { VERDICT_URL: service.address, VERDICT_KEY: API_KEY }

const MODEL = 'roles: { auditor: }\nusers: { ann: , josé: , josè: }\ntests: []\n'
const LINES = '{"kind":"tenant","key":"acme"}\n{"kind":"user","key":"josé"}\n'

/** Commands that read a text file, with the position of its first character that is not ASCII. */
const READERS: readonly [args: readonly string[], text: string, position: string][] = [
  [['test', file], MODEL, '2:20'],
  [['apply', file, '--yes'], MODEL, '2:20'],
  [['bulk', file], 'ann read document:a\njosé read document:a\n', '2:4'],
  [['load', file], LINES, '2:26'],
  [['import', file, '--replace'], LINES, '2:26'],
  [['restore', file, pathOf('store')], '{"path":"josé"}\n', '1:13'],
]

describe('a file that is not valid UTF-8', () => {
  test.each(READERS)('is rejected with its position by %j', async (args, text, position) => {
    written(Buffer.from(text, 'latin1'), 'input')
    const name = args[0] === 'restore' ? 'the backup' : file
    expect(await verdictCommand(args, { env })).toEqual({
      code: 2,
      stdout: '',
      stderr: `verdict: ${name}:${position}: expected UTF-8, received the byte 0xe9; save the text as UTF-8\n`,
    })
  })

  test.each([
    ['a truncated character at the end', [0x61, 0x0a, 0x62, 0xe2, 0x82], '2:2', '0xe2'],
    ['a surrogate', [0xed, 0xa0, 0x80], '1:1', '0xed'],
    ['an overlong form', [0x61, 0xc0, 0xaf], '1:2', '0xc0'],
    ['a valid replacement character before the error', [0xef, 0xbf, 0xbd, 0xff], '1:2', '0xff'],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00], '1:1', '0xff'],
  ])('is rejected at the first byte of %s', async (_name, bytes, position, byte) => {
    written(Buffer.from(bytes), 'input')
    const { code, stderr } = await verdictCommand(['test', file])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`:${position}: expected UTF-8, received the byte ${byte}`),
    ])
  })

  test('is reported together with the errors in other files', async () => {
    written(Buffer.from(MODEL, 'latin1'), 'input')
    const other = written('users: 7\n', 'other')
    const { code, stderr } = await verdictCommand(['test', file, other])
    expect([code, stderr.split('\n')]).toEqual([
      2,
      [expect.stringContaining(`${file}:2:20: `), expect.stringContaining(`${other}:1:8: `), ''],
    ])
  })

  test('is rejected if it is the file of the API key, and its content is not printed', async () => {
    written(Buffer.from('secret-é', 'latin1'), 'input')
    const told = await verdictCommand(['status'], {
      env: { VERDICT_URL: service.address, VERDICT_KEY_FILE: file },
    })
    expect(told).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('cannot be read: 1:8: expected UTF-8'),
    })
    expect(told.stderr).not.toContain('secret')
  })

  test('is rejected with a hint if it is compressed', async () => {
    written(gzipSync(LINES), 'input')
    const { code, stderr } = await verdictCommand(['import', file, '--replace'], { env })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(':1:2: expected UTF-8, received the byte 0x8b; the data is in gzip format'),
    ])
  })
})

test('a model file can begin with a byte order mark', async () => {
  written(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('users: 7\n')]), 'input')
  const { code, stderr } = await verdictCommand(['test', file])
  expect([code, stderr]).toEqual([2, `verdict: ${file}:1:8: users: expected a map, got 7\n`])
})
