/** Responses that are not from a Verdict service are errors, because scripts depend on the exit code. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandFiles, verdictCommand } from './command-line.ts'

const COMPANY = fileURLToPath(new URL('company.yaml', import.meta.url))
const PLACE = ['--project', 'default', '--env', 'default']
const KEY_ID = '5c0f0000-0000-4000-8000-000000000001'
const HEADER = '{"kind":"environment","format":1}\n'
const { directory, written } = commandFiles()
const file = written(HEADER, 'file')
const servers: Server[] = []

afterAll(() => {
  for (const server of servers) server.close()
})

/** Starts a server that sends this response after it has read the request, and returns its address. */
async function serverOf(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response))
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs a command against a server that sends this response. */
async function run(args: readonly string[], answer: RequestListener, stdin: string | Readable = '') {
  const env = { VERDICT_URL: await serverOf(answer), VERDICT_KEY: 'secret' }
  return verdictCommand(args, { env, stdin })
}

const answerOf =
  (status: number, type: string, text: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(text)
  }

/** Sends one byte less than the announced length and then closes the connection. */
const cutAfter =
  (text: string): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 1 })
    response.write(text, () => response.socket!.end())
  }

const QUESTION = 'carol write document:roadmap'

describe.each<[what: string, answer: RequestListener, message: RegExp]>([
  ['a truncated response', cutAfter('{"allow":true,"result":tru'), / ended early: /],
  ['an HTML page', answerOf(200, 'text/html', '<!doctype html>'), /not from a Verdict service/],
  ['JSON of another service', answerOf(200, 'application/json', '{"ok":true}'), /not from a Verdict service/],
])('%s', (_what, answer, message) => {
  test.each([
    ['check', ...QUESTION.split(' ')],
    ['explain', ...QUESTION.split(' ')],
    ['bulk', '-'],
    ['list', 'users', 'write', 'document:roadmap'],
    ['list', 'actions', 'carol', 'document:roadmap'],
    ['status'],
    ['status', ...PLACE],
    ['keys', 'list'],
    ['keys', 'create'],
    ['keys', 'rotate', KEY_ID],
    ['members', 'list'],
    ['members', 'grant', 'ops', '--group', '--level', 'read'],
    ['sessions', 'list'],
    ['grant', 'carol', 'editor', 'on', 'document:roadmap', ...PLACE],
    ['grant', 'platform', 'editor', 'on', 'document:roadmap', '--group', ...PLACE],
    ['apply', COMPANY, '--dry-run'],
    ['apply', COMPANY, '--dry-run', ...PLACE],
    ['export', '-', ...PLACE],
    ['import', file, ...PLACE],
  ])('causes exit code 3 and one line of output: verdict %s %s', async (...args) => {
    const { code, stdout, stderr } = await run(args, answer, `${QUESTION}\n`)
    expect([code, stderr]).toEqual([EXIT.service, expect.stringMatching(/^verdict: [^\n]+\n$/)])
    if (args[0] !== 'export') expect([stdout, stderr]).toEqual(['', expect.stringMatching(message)])
  })
})

describe('a command that changes data', () => {
  test.each([
    ['keys', 'revoke', KEY_ID],
    ['members', 'remove', KEY_ID],
    ['sessions', 'end', KEY_ID],
    ['revoke', 'carol', 'editor', ...PLACE],
    ['load', '-', ...PLACE],
  ])('fails if the response is an HTML page: verdict %s %s', async (...args) => {
    const page = answerOf(200, 'text/html', '<!doctype html>')
    const { code, stdout } = await run(args, page, '{"kind":"user","key":"carol"}\n')
    expect([code, stdout]).toEqual([EXIT.service, ''])
  })
})

describe('verdict bulk', () => {
  test('requires a result for each check', async () => {
    const one = answerOf(200, 'application/json', '{"allow":[{"allow":true,"result":true}]}')
    expect((await run(['bulk', '-'], one, `${QUESTION}\n`)).code).toBe(EXIT.yes)
    const { code, stdout } = await run(['bulk', '-'], one, `${QUESTION}\n${QUESTION}\n`)
    expect([code, stdout]).toEqual([EXIT.service, ''])
  })
})

describe('verdict status', () => {
  test('reports "not ready" only for a response of the service itself', async () => {
    const said = answerOf(503, 'application/json', '{"code":503,"message":"not ready: loading"}')
    expect((await run(['status'], said)).code).toBe(EXIT.no)
    const proxy = answerOf(503, 'text/html', '<h1>503 Service Unavailable</h1>')
    expect((await run(['status'], proxy)).code).toBe(EXIT.service)
  })
})

describe('an exported environment', () => {
  const user = '{"kind":"user","key":"carol"}\n'

  test.each([
    ['without lines', ''],
    ['without a last line', `${HEADER}${user}`],
    ['with half a last line', `${HEADER}${user}{"kind":"end","li`],
    ['with fewer lines than counted', `${HEADER}${user}{"kind":"end","lines":3}\n`],
  ])('is rejected although the response is complete: %s', async (_what, text) => {
    const target = written('the backup before', 'backup.ndjson')
    const early = answerOf(200, 'application/x-ndjson', text)
    for (const args of [['export', target], ['export'], ['apply', COMPANY, '--dry-run']]) {
      const { code, stderr } = await run([...args, ...PLACE], early)
      expect([args, code, stderr]).toEqual([args, EXIT.service, expect.stringMatching(/^verdict: [^\n]+\n$/)])
    }
    expect([readFileSync(target, 'utf8'), existsSync(`${target}.part`)]).toEqual(['the backup before', false])
  })

  test('is accepted if it is complete', async () => {
    const whole = answerOf(200, 'application/x-ndjson', `${HEADER}${user}{"kind":"end","lines":2}\n`)
    expect((await run(['export', ...PLACE], whole)).code).toBe(EXIT.yes)
    expect((await run(['apply', COMPANY, '--dry-run', ...PLACE], whole)).code).toBe(EXIT.no)
  })

  test('is rejected if one of its lines is not valid', async () => {
    for (const line of ['null', '{}', '{"kind":"user"}', '{"kind":"resource","key":"document"}']) {
      const lines = `${HEADER}${line}\n{"kind":"end","lines":2}\n`
      const answer = answerOf(200, 'application/x-ndjson', lines)
      const { code, stderr } = await run(['apply', COMPANY, '--dry-run', ...PLACE], answer)
      expect([line, code, stderr]).toEqual([line, EXIT.service, expect.stringMatching(/^verdict: [^\n]+\n$/)])
    }
  })
})

describe('the input of a command', () => {
  const nobody = answerOf(500, 'text/plain', 'unused')

  test('that cannot be read to its end causes exit code 2', async () => {
    for (const command of ['bulk', 'load']) {
      expect((await run([command, directory, ...PLACE], nobody)).code).toBe(EXIT.usage)
      const broken = Readable.from(
        (async function* () {
          yield `${QUESTION}\n`
          throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' })
        })(),
      )
      const { code, stderr } = await run(['bulk', '-'], nobody, broken)
      expect([code, stderr]).toEqual([EXIT.usage, 'verdict: EIO: i/o error, read\n'])
    }
  })

  test('is split at line breaks only, however it is chunked', async () => {
    const user = 'Zoë\u2028\u2029\u0085'
    const lines = [
      '\uFEFF# questions',
      JSON.stringify({ user, action: 'read', resource: 'document:d' }),
      'bob read document:d',
    ]
    const bytes = [...Buffer.from(lines.join('\r\n'))].map(byte => Buffer.of(byte))
    const allowed = { allow: true, result: true }
    const both = answerOf(200, 'application/json', JSON.stringify({ allow: [allowed, allowed] }))
    const { stdout } = await run(['bulk', '-'], both, Readable.from(bytes))
    expect(JSON.parse(stdout)).toMatchObject([{ user }, { user: 'bob' }])
  })
})
