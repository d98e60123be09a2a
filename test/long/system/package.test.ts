/** The npm package contains only the program and its documentation, and runs without a checkout. */
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { checkoutCopy } from '../../support/processes/checkout-copy.ts'
import { API_KEY } from '#testing/processes/running-service.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
}

/** Without the variables of npm, which refer to another directory. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

const folder = sharedDirectory()
const elsewhere = join(folder, 'elsewhere')
const checkout = checkoutCopy()
let packed: Packed

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: checkout, env, maxBuffer: 2 ** 24 })
  packed = (JSON.parse(stdout) as Packed[])[0]!
  mkdirSync(elsewhere)
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(checkout, packed.filename)]
  await run('npm', install, { cwd: elsewhere, env })
})

/** A folder with a `node` that rejects the flag, reports an old version, and exits at the first output. */
function folderOfOldNode(): string {
  const old = mkdtempSync(join(folder, 'old-node-'))
  const asOld = join(old, 'as-old.cjs')
  writeFileSync(
    asOld,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })
process.stdout.write = () => process.exit(9)
`,
  )
  const script = `#!/bin/sh
case "$1" in --disable-warning*) echo "node: bad option: $1" >&2; exit 9 ;; esac
exec "${process.execPath}" --require "${asOld}" "$@"
`
  writeFileSync(join(old, 'node'), script, { mode: 0o755 })
  return old
}

test('the package contains the build and at most 100 other files, without sources and tests', () => {
  const others = packed.files.map(({ path }) => path).filter(path => !path.startsWith('dist/'))
  expect(others.length).toBeLessThanOrEqual(100)
  const needed = ['LICENSE', 'NOTICE', 'README.md', 'CHANGELOG.md', 'package.json', 'bin/verdict.js']
  expect(others).toEqual(expect.arrayContaining(needed))
  const folders = new Set(others.flatMap(path => (path.includes('/') ? [path.split('/')[0]] : [])))
  expect([...folders].toSorted()).toEqual(['bin', 'deploy', 'docs'])
  expect(packed.files.length - others.length).toBeGreaterThan(20)
})

/** A program of an application, which compiles and runs with the packages of its database. */
const FILTER_PROGRAM = `
import { type AccessPlan, FilterError, planRequest, table, toPredicate, toSql } from 'verdict-authz/filter'
import { toDrizzle } from 'verdict-authz/filter/drizzle'
import { toKysely } from 'verdict-authz/filter/kysely'
import { toPrisma } from 'verdict-authz/filter/prisma'
import { type RawBuilder } from 'kysely'

const documents = table({ type: 'document', key: { column: 'id' } })
const plan: Pick<AccessPlan, 'kind' | 'filter'> = {
  kind: 'conditional',
  filter: { type: 'field', operator: 'eq', field: 'key', value: 'a' },
}
const expression: RawBuilder<boolean> = toKysely(plan, documents, { dialect: 'sqlite' })
const condition: { readonly text: string } = toSql(plan, documents, { dialect: 'sqlite' })
type IsAny<T> = 0 extends 1 & T ? true : false
const known: IsAny<typeof toSql> | IsAny<ReturnType<typeof toKysely>> | IsAny<ReturnType<typeof toDrizzle>> = false
const all = [expression, toDrizzle(plan, documents, { dialect: 'sqlite' }), toPrisma(plan, documents, { dialect: 'postgresql' })]
const seen = [planRequest(documents, { user: 'ann', action: 'read' })['action'], toPredicate(plan, documents)({ id: 'a' })]
console.log(JSON.stringify([condition.text, all.every(Boolean), ...seen, known, typeof FilterError]))
`

test('the adapters of filters, installed with the package, have types and run without the service', async () => {
  const adapters = join(elsewhere, 'node_modules', manifest.name, 'dist/filter')
  const imported = globSync('*.js', { cwd: adapters }).flatMap(name =>
    Array.from(
      readFileSync(join(adapters, name), 'utf8').matchAll(/\bfrom "([^"]+)"|\bimport[ (]"([^"]+)"/g),
      ([, from, alone]) => (from ?? alone)!,
    ),
  )
  expect(new Set(imported.filter(id => !id.startsWith('./')))).toEqual(new Set(['kysely', 'drizzle-orm']))
  for (const name of ['kysely', 'drizzle-orm'])
    symlinkSync(join(root, 'node_modules', name), join(elsewhere, 'node_modules', name))
  writeFileSync(join(elsewhere, 'filter.mts'), FILTER_PROGRAM)
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck']
  const compile = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '--types', '', 'filter.mts']
  await run(process.execPath, compile, { cwd: elsewhere, env })
  const { stdout } = await run(process.execPath, ['filter.mjs'], { cwd: elsewhere, env })
  expect(JSON.parse(stdout)).toEqual(['`id` COLLATE BINARY = ?', true, 'read', true, false, 'function'])
})

describe('the package, installed in an empty directory,', () => {
  test.each(['verdict', manifest.name])('prints the release with npx %s --version', async name => {
    const { stdout } = await run('npx', [name, '--version'], { cwd: elsewhere, env })
    expect(stdout).toBe(`${manifest.version}\n`)
  })

  test('runs on its own Node if the Node on the PATH is too old', async () => {
    const { stdout } = await run(join(elsewhere, 'node_modules/.bin/verdict'), ['--version'], {
      cwd: elsewhere,
      env: { ...env, PATH: [folderOfOldNode(), process.env['PATH']].join(delimiter) },
    })
    expect(stdout).toBe(`${manifest.version}\n`)
  })

  test('serves on its own Node until it is stopped, and its command line can query the service', async () => {
    const path = [folderOfOldNode(), join(elsewhere, 'node_modules/.bin'), process.env['PATH']]
    const service = startedProcess(
      { POOL_THREADS: '0', PATH: path.join(delimiter) },
      { cwd: elsewhere, command: ['verdict', 'serve'] },
    )
    const url = await service.address()
    const [, pid] = await service.logMatch(/"pid":(\d+)/)
    // Without a signal, the service would outlive its parent process.
    onTestFinished(async () => void (await run('kill', ['-KILL', pid!]).catch(() => null)))
    const client = await clientOf(service)
    await client.createViewer('anna', 'document:plan')
    expect(await client.allows('anna', 'read', 'document:plan')).toBe(true)
    const asked = await run('npx', [manifest.name, 'check', 'anna', 'read', 'document:plan'], {
      cwd: elsewhere,
      env: { ...env, VERDICT_URL: url, VERDICT_KEY: API_KEY },
    })
    expect(JSON.parse(asked.stdout)).toMatchObject({ allow: true })
    expect(await service.end('SIGTERM')).toBe(0)
  })
})
