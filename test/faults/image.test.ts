/**
 * Builds the image of `Dockerfile` without Docker, in an empty folder with the same files and commands. Also
 * validates `docker-compose.yml`.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY, Client, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
/** The Node of this machine replaces that of the image. */
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`
const MEBIBYTE = 1_048_576

interface Instruction {
  readonly name: string
  readonly text: string
}

function instructions(): Instruction[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8').replaceAll(/\\\n\s*/g, '')
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => ({ name: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }))
}

function allOf(name: string): string[] {
  return instructions().flatMap(instruction => (instruction.name === name ? [instruction.text] : []))
}

/** Files and folders of the checkout that are copied into the image. */
function copied(): string[] {
  return [
    ...new Set(allOf('COPY').flatMap(text => (text.startsWith('--') ? [] : text.split(' ').slice(0, -1)))),
  ]
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

test('the image serves from the copied files, passes its health check, and is small', async () => {
  const folder = join(storeDirectory(), 'app')
  mkdirSync(folder)
  for (const path of copied()) cpSync(join(root, path), join(folder, path), { recursive: true })
  const [install] = allOf('RUN')
  await run('sh', ['-c', install!], { cwd: folder, env: { ...process.env, PATH } })
  expect(existsSync(join(folder, 'node_modules/vitest'))).toBe(false)
  expect(bytesIn(folder) / MEBIBYTE).toBeLessThan(80)

  const settings = Object.fromEntries(
    allOf('ENV').flatMap(text => text.split(' ').map(pair => pair.split('='))),
  )
  const port = String(await freePort())
  const here = { ...settings, PATH, HOST: '127.0.0.1', PORT: port, STORE_URL: 'lmdb:./data', API_KEY }
  const command = JSON.parse(allOf('CMD')[0]!) as [string, ...string[]]
  const service = new ServiceProcess({ cwd: folder, env: here, command })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  const client = Client.at(await service.address())
  expect((await client.get('/ready')).status).toBe(200)
  await client.createDocumentModel()

  const [check, ...args] = JSON.parse(/CMD (\[.+\])$/.exec(allOf('HEALTHCHECK')[0]!)![1]!) as [
    string,
    ...string[],
  ]
  await run(check, args, { env: here })
  expect(await service.end('SIGTERM')).toBe(0)
  await expect(run(check, args, { env: here })).rejects.toMatchObject({ code: 1 })
})

test('the image runs without root on the required Node and contains no secret', () => {
  expect(allOf('FROM').every(text => /^node:22-slim(@sha256:[0-9a-f]{64})?( AS \w+)?$/.test(text))).toBe(true)
  expect(allOf('USER')).toEqual(['1000:1000'])
  expect(allOf('EXPOSE')).toEqual(['7766'])
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).not.toMatch(/^(ENV|ARG).*(KEY|PASSWORD)/m)
  // All other files are excluded from the build context.
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  expect(ignored).toEqual(['*', ...copied().map(path => `!${path}`)])
})

test('docker-compose.yml passes its linter and matches the image and the configuration of HAProxy', async () => {
  await run('npx', ['dclint', '--max-warnings', '0', 'docker-compose.yml'], {
    cwd: root,
    env: { ...process.env, PATH },
  })
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  expect(text).toContain('./deploy/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro')
  const used = [...readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8').matchAll(/\$\{(\w+)\}/g)]
  expect(used.length).toBeGreaterThan(2)
  for (const [, name] of used) expect(text).toMatch(new RegExp(`^      ${name}: `, 'm'))
  // Secrets must be required variables, so that the file contains no secret.
  for (const line of text.split('\n')) {
    if (/(KEY|PASSWORD)\b/.test(line) && !line.startsWith('#'))
      expect(line).toMatch(/\$\{\w+:\?|^ {6}ADMIN_API_KEY:$/)
  }
  expect(text.match(/memory:/g)).toHaveLength(3)
})
