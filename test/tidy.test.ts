/** Style rules that a program can check. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const LINES_MAX = 500
/** File names without meaning. */
const BANNED_NAMES = /(^|\/)(utils?|helpers?|common|manager|misc|index)\.(tsx?|js)$/

const files = ['src', 'workers', 'packaging', 'bench', 'test', 'testing', 'console']
  .flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true })
      .map(name => join(folder, String(name)))
      // Packages that benches install, and the generated types of the console.
      .filter(name => !name.includes('node_modules') && !name.startsWith('console/types')),
  )
  .filter(path => /\.(tsx?|js)$/.test(path))
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Entry points of programs, which load other modules at run time. */
const ENTRY_POINTS: ReadonlySet<string> = new Set([
  'src/start.js',
  'src/verdict.js',
  // The programs above start the following ones. The built form has other entry points.
  'src/main.ts',
  'src/process.ts',
  'src/cli/main.ts',
])

/** Modules that load other modules by their paths when they need them. */
const LATE_IMPORTS: ReadonlySet<string> = new Set([
  'src/cli/command-line/command-line.ts',
  'src/cli/command-line/commands.ts',
  'src/cli/session/http-api.ts',
  'src/cli/session/output.ts',
  'src/composition/process/open-tracing.ts',
  'src/composition/process/quick-entry.js',
  'src/http/edge/server.ts',
  'src/store/open/open-store.ts',
  'src/telemetry/metrics-scrape.ts',
])

interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Paths of the files that break a rule. */
function offenders(breaksRule: (file: SourceFile) => boolean): string[] {
  return files.filter(breaksRule).map(({ path }) => path)
}

describe('every source file', () => {
  test('begins with a description', () => {
    expect(offenders(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text))).toEqual([])
  })

  test('has a meaningful name', () => {
    expect(offenders(({ path }) => BANNED_NAMES.test(path))).toEqual([])
  })

  test('is short if it belongs to the product', () => {
    const isLong = ({ path, text }: SourceFile) =>
      /^(src|workers|console)\//.test(path) && text.split('\n').length > LINES_MAX
    expect(offenders(isLong)).toEqual([])
  })

  test('has comment lines of at most 110 columns', () => {
    expect(offenders(({ text }) => /^(?=.{111})\s*(\*|\/\/|\/\*\*)/mu.test(text))).toEqual([])
  })

  test('contains no unfinished work and disables no check', () => {
    const marks =
      /\b(TODO|FIXME|XXX)\b|@ts-(ignore|expect-error|nocheck)|\b(describe|test|it)\.(skip|only|todo)\b/
    expect(offenders(({ path, text }) => path !== 'test/tidy.test.ts' && marks.test(text))).toEqual([])
  })
})

test('the linter checks all imports of src, because only listed modules use dynamic imports', () => {
  const late = offenders(
    ({ path, text }) =>
      path.startsWith('src/') &&
      !ENTRY_POINTS.has(path) &&
      !LATE_IMPORTS.has(path) &&
      /\bimport\(/.test(text),
  )
  expect(late).toEqual([])
})

test('every file of src is imported by an entry point, another file or a test', () => {
  const imported = new Set<string>()
  for (const { path, text } of files) {
    for (const [, specifier] of text.matchAll(/(?:from|import|URL\()\s*\(?'([^']+\.(?:ts|js))'/g)) {
      imported.add(
        specifier!.startsWith('#')
          ? specifier!.replace('#', 'src/')
          : normalize(join(dirname(path), specifier!)),
      )
    }
  }
  const isDead = ({ path }: SourceFile) =>
    path.startsWith('src/') && !ENTRY_POINTS.has(path) && !imported.has(path)
  expect(offenders(isDead)).toEqual([])
})
