/** The build contains the service and the command line, and is not used if the sources are newer. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { API_KEY, FACTS, question } from '#testing/processes/running-service.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning'] as const

/** A built copy of the checkout. */
async function builtCheckout(): Promise<string> {
  const folder = ownDirectory()
  const isInstalled = (path: string): boolean => path.endsWith('console/node_modules')
  for (const path of [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'console',
    'packaging',
    'src',
    'workers',
  ]) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: from => !isInstalled(from) })
  }
  // A separate folder, because builds remove the compile cache of V8, which is stored in it.
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  await run(NODE[0], [NODE[1], 'packaging/build.ts'], { cwd: folder })
  return folder
}

/** Returns the entry that would run, according to the times and the contents of the files. */
async function whichEntry(folder: string): Promise<string> {
  const script = `import { entry } from './src/composition/process/built-form.ts'
    import { entryOf } from './src/composition/process/quick-entry.js'
    const found = [await entryOf('main', 'src/main.ts'), entry('main', 'src/main.ts').href]
    const paths = found.map(url => new URL(url).pathname.slice(process.cwd().length))
    process.stdout.write([...new Set(paths)].join(' and '))`
  return (await run(NODE[0], [NODE[1], '--input-type=module', '-e', script], { cwd: folder })).stdout
}

test('the build serves decisions, bulks, changes, imports, the console and the CLI without the sources', async () => {
  const folder = await builtCheckout()
  for (const path of ['console', 'packaging', 'src', 'workers'])
    rmSync(join(folder, path), { recursive: true })
  const start = [...NODE, join(folder, 'dist/start.js')] as [string, ...string[]]
  const service = startedProcess({ POOL_THREADS: '1' }, { cwd: folder, command: start })
  const client = await clientOf(service)
  await client.createDocumentModel()
  // There are enough users for the pool and for the thread that makes large writes.
  const users = Array.from({ length: 3_000 }, (_, n) => ({ key: `user-${n}` }))
  expect((await client.post(`${FACTS}/bulk/users`, { operations: users })).status).toBe(200)
  await client.assign('user-7', 'viewer', 'document:plan')
  const bulk = Array.from({ length: 3_000 }, (_, n) => question(`user-${n}`, 'read', 'document:plan'))
  const allowed = await client.allowsAll(bulk)
  expect(allowed.flatMap((isAllowed, n) => (isAllowed ? [n] : []))).toEqual([7])

  const url = await service.address()
  expect(await (await fetch(`${url}/console`)).text()).toContain('src="./console/index-')
  const verdict = async (...args: string[]) =>
    (
      await run(NODE[0], [NODE[1], join(folder, 'dist/verdict.js'), ...args], {
        cwd: folder,
        env: { ...process.env, VERDICT_URL: url, VERDICT_KEY: API_KEY },
      })
    ).stdout
  expect(JSON.parse(await verdict('check', 'user-7', 'read', 'document:plan'))).toMatchObject({ allow: true })
  await verdict('export', 'all.ndjson')
  await verdict('import', 'all.ndjson', '--replace')
  expect(JSON.parse(await verdict('check', 'user-7', 'read', 'document:plan'))).toMatchObject({ allow: true })
  expect(await service.end('SIGTERM')).toBe(0)
})

test('the sources run instead of the build if a source file was edited, added or removed', async () => {
  const folder = await builtCheckout()
  expect(await whichEntry(folder)).toBe('/dist/main.js')
  const [file, away] = [join(folder, 'src/model/assert.ts'), join(folder, 'assert.ts')]
  renameSync(file, away)
  // The comparison of sources and build does not need this file.
  expect(await whichEntry(folder)).toBe('/src/main.ts')
  renameSync(away, file)
  expect(await whichEntry(folder)).toBe('/dist/main.js')
  // The edit keeps the times of the file, like a copy that preserves times.
  const { mtime, atime } = statSync(file)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/e/, 'a'))
  utimesSync(file, atime, mtime)
  expect(await whichEntry(folder)).toBe('/src/main.ts')
  writeFileSync(file, text)
  expect(await whichEntry(folder)).toBe('/dist/main.js')
  writeFileSync(join(folder, 'workers/another.ts'), '')
  expect(await whichEntry(folder)).toBe('/src/main.ts')
})

test('concurrent builds leave one complete build and no other files', async () => {
  const folder = await builtCheckout()
  const build = () => run(NODE[0], [NODE[1], 'packaging/build.ts'], { cwd: folder })
  await Promise.all([build(), build(), build()])
  expect(await whichEntry(folder)).toBe('/dist/main.js')
  expect(readdirSync(folder).filter(name => name.startsWith('dist'))).toEqual(['dist'])
  expect((statSync(join(folder, 'dist')).mode & 0o777).toString(8)).toBe('755')
  const { stdout } = await run(NODE[0], [NODE[1], 'src/verdict.js', '--help'], { cwd: folder })
  expect(stdout).toContain('verdict check')
})
