/** Messages if no service responds: one sentence with advice, without HTML and library messages. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { makeCertificates } from '../faults/topologies/certificates.ts'
import { verdictCommand } from './command-line.ts'

const PAGE = '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n'
const servers: Server[] = []

afterAll(() => {
  for (const server of servers) server.close()
})

async function portOf(server: Server | HttpServer): Promise<number> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

const httpPort = await portOf(
  createHttpServer((_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end(PAGE)
  }),
)
const pagePort = await portOf(
  createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
  }),
)
const closingPort = await portOf(createTcpServer(socket => socket.destroy()))
const otherPort = await portOf(createTcpServer(socket => socket.end('220 mail ready\r\n')))

/** The message of a command, which must be one line. The exit code must report that no service responded. */
async function saidOf(url: string, key = 'secret'): Promise<string> {
  const env = { VERDICT_URL: url, ...(key !== '' && { VERDICT_KEY: key }) }
  const { code, stdout, stderr } = await verdictCommand(['check', 'anna', 'read', 'document:plan'], { env })
  expect([url, code, stdout]).toEqual([url, EXIT.service, ''])
  expect(stderr).toMatch(/^verdict: [^\n]+\n$/)
  expect(stderr).not.toMatch(/<|SSL routines|error:[0-9A-F]+|openssl|\.c:\d+|undefined|Error:/i)
  return stderr.slice('verdict: '.length, -1)
}

describe('a service that does not respond', () => {
  test('is reported in one sentence if no process listens', async () => {
    expect(await saidOf('http://127.0.0.1:9')).toBe(
      'http://127.0.0.1:9 cannot be reached: the connection was refused (ECONNREFUSED); check that the service runs there',
    )
  })

  test('is reported in one sentence if the host name is unknown', async () => {
    // The message of the system depends on its name server.
    expect(await saidOf('http://nowhere.invalid')).toMatch(
      /^http:\/\/nowhere\.invalid cannot be reached: .*nowhere\.invalid.* \((ENOTFOUND|EAI_AGAIN)\)[;:] .*(VERDICT_URL|name server)/,
    )
  })

  test('is reported in one sentence if the connection ends immediately', async () => {
    expect(await saidOf(`http://127.0.0.1:${closingPort}`)).toBe(
      `http://127.0.0.1:${closingPort} cannot be reached: the connection ended without a response (ECONNRESET); try https://127.0.0.1:${closingPort}`,
    )
  })

  test('is reported in one sentence if the server does not speak HTTP', async () => {
    expect(await saidOf(`http://127.0.0.1:${otherPort}`)).toContain('the server does not use HTTP')
  })

  test('is reported in one sentence if an HTTPS URL leads to an HTTP server', async () => {
    expect(await saidOf(`https://127.0.0.1:${httpPort}`)).toBe(
      `https://127.0.0.1:${httpPort} cannot be reached: the server does not use TLS correctly; try http://127.0.0.1:${httpPort}`,
    )
  })

  test('is reported in one sentence if a proxy responds with a page', async () => {
    expect(await saidOf(`http://127.0.0.1:${httpPort}`)).toBe(
      'POST /allowed: status 502 with a page that is not from a Verdict service; check the address in --url or VERDICT_URL',
    )
    expect(await saidOf(`http://127.0.0.1:${pagePort}`)).toBe(
      'POST /allowed: the response is not from a Verdict service; check the address in --url or VERDICT_URL',
    )
  })

  test('is reported in one sentence if a key is required and missing', async () => {
    const port = await portOf(
      createHttpServer((_request, response) => {
        response.writeHead(401, { 'content-type': 'text/html' }).end(PAGE)
      }),
    )
    expect(await saidOf(`http://127.0.0.1:${port}`, '')).toBe(
      `http://127.0.0.1:${port} requires an API key; set VERDICT_KEY, VERDICT_KEY_FILE or --key`,
    )
    expect(await saidOf(`http://127.0.0.1:${port}`)).toContain('check the API key in --key, VERDICT_KEY')
  })
})

describe.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'a server with TLS (skipped without openssl)',
  async () => {
    const certificates = makeCertificates()
    afterAll(() => certificates.remove())
    const part = (name: string) => readFileSync(join(certificates.directory, name))
    const port = await portOf(createHttpsServer({ key: part('redis.key'), cert: part('redis.crt') }))

    test('that has an untrusted certificate is reported with the setting for trusted authorities', async () => {
      expect(await saidOf(`https://127.0.0.1:${port}`)).toMatch(
        /: its certificate is not trusted \([A-Z_]+\); set NODE_EXTRA_CA_CERTS to a file of trusted authorities$/,
      )
    })

    test('that is called with an HTTP URL is reported with a suggestion', async () => {
      expect(await saidOf(`http://127.0.0.1:${port}`)).toContain(`try https://127.0.0.1:${port}`)
    })
  },
)
