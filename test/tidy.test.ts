/** Rules of style and structure that a program can check. */
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
  'src/sign-in/sign-in-service.ts',
  'src/store/open/open-store.ts',
  'src/telemetry/process-metrics.ts',
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

/** Paths of the modules that a file imports, including imports of types and dynamic imports. */
function importsOf({ path, text }: SourceFile): string[] {
  const specifiers = text.matchAll(/(?:from|import|URL\()\s*\(?'([#.][^']+\.(?:ts|js))'/g)
  return Array.from(specifiers, ([, specifier]) =>
    specifier!.startsWith('#') ? specifier!.replace('#', 'src/') : normalize(join(dirname(path), specifier!)),
  )
}

test('every file of src is imported by an entry point, another file or a test', () => {
  const imported = new Set(files.flatMap(importsOf))
  const isDead = ({ path }: SourceFile) =>
    path.startsWith('src/') && !ENTRY_POINTS.has(path) && !imported.has(path)
  expect(offenders(isDead)).toEqual([])
})

const sources = files.filter(({ path }) => path.startsWith('src/'))

/** The first cycle of a graph, from a node to the same node. Null if there is none. */
function cycleIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const finished = new Set<string>()
  const visit = (node: string, path: readonly string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (finished.has(node)) return null
    for (const next of edges.get(node) ?? []) {
      const cycle = visit(next, [...path, node])
      if (cycle !== null) return cycle
    }
    finished.add(node)
    return null
  }
  for (const node of edges.keys()) {
    const cycle = visit(node, [])
    if (cycle !== null) return cycle
  }
  return null
}

describe('the folders of src', () => {
  test.each([
    ['without their subfolders', (folder: string) => folder],
    // Replaces both folders by their parents in the nearest common folder.
    [
      'with their subfolders',
      (folder: string, other: string) => {
        const names = folder.split('/')
        const others = other.split('/')
        const at = names.findIndex((name, index) => name !== others[index])
        return at < 0 || at >= others.length ? null : names.slice(0, at + 1).join('/')
      },
    ],
  ])('form no cycle of imports, %s', (_, nodeOf) => {
    const edges = new Map<string, Set<string>>()
    for (const file of sources) {
      for (const imported of importsOf(file).filter(path => path.startsWith('src/'))) {
        const [from, to] = [dirname(file.path), dirname(imported)]
        const [node, next] = [nodeOf(from, to), nodeOf(to, from)]
        if (node !== null && next !== null && node !== next)
          edges.set(node, (edges.get(node) ?? new Set()).add(next))
      }
    }
    expect(cycleIn(edges)).toBeNull()
    const [folder, next] = [...edges][0]!
    edges.set([...next][0]!, new Set([folder]))
    expect(cycleIn(edges)).not.toBeNull()
  })

  test('declare each exported type once', () => {
    const names = sources.flatMap(({ text }) => [
      ...new Set(
        Array.from(
          text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm),
          ([, name]) => name!,
        ),
      ),
    ])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

/** Folders with one file per entity, which would not be clearer in parts. */
const LONG_FOLDERS = ['src/http/routes/management']

test.each([
  ['src', 26],
  ['test', 30],
])('a folder of %s has at most %d files', (top, filesMax) => {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  const long = [...counts].filter(([folder, count]) => folder.startsWith(`${top}/`) && count > filesMax)
  expect(long.map(([folder]) => folder).filter(folder => !LONG_FOLDERS.includes(folder))).toEqual([])
})
