/** References to `docs/spec` in code, tests and documents name sections and rulings that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SPEC = join('docs', 'spec')
const FOLDERS = ['src', 'workers', join('console', 'src'), 'testing', 'test', 'bench', 'packaging', 'docs']
const READ = /\.(tsx?|m?js|md|json|ya?ml|lua|py|go|java)$/

/** Separators between names, as in "A.2, C.2 and D-15" or "B.6 to B.11". */
const JOIN = '(?:[,;] (?:and )?| and | to |–)'
/** A reference to native.md with all names that follow the first one. */
const NATIVE = new RegExp(
  `native\\.md ((?:[A-Z][.-])?\\d+(?:\\.\\d+)?|[A-Z](?!\\w))((?:${JOIN}(?:[A-Z][.-]\\d+|0\\.\\d+))*)`,
  'g',
)
/** A reference to rulings of administration.md. */
const ADMINISTRATION = new RegExp(`administration\\.md ([A-Z]\\d+(?:${JOIN}[A-Z]\\d+)*)`, 'g')
/** A reference to rulings of filter.md, or to a section of it. */
const FILTER = new RegExp(`filter\\.md,? (P\\d+(?:${JOIN}P\\d+)*|sections? \\d+(?:${JOIN}\\d+)*)`, 'g')
const NUMBER = '(?:(?:sections?|rows?|rulings?) )?\\d+(?:\\.\\d+)*'
/** A reference to a page with numbered sections, as in "conditions.md 5" or "conditions, section 5". */
const NUMBERED = new RegExp(
  `\\b(?:(conditions|authzen)\\.md,? |(conditions), )(${NUMBER}(?:${JOIN}${NUMBER})*)`,
  'gi',
)
/** Names of rulings without their page, and references to a page that does not exist. */
const STRAY = /(?<![\w.-])D-\d+\b|\bcontract (?:section \d|[A-E][.-]\d)/gi

interface Page {
  readonly path: string
  /** Text on one line, without comment markers. */
  readonly text: string
}

interface Reference {
  readonly path: string
  readonly page: string
  readonly name: string
}

const pages: readonly Page[] = FOLDERS.flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(path => READ.test(path) && !path.includes('node_modules')),
)
  .filter(path => path !== join('test', 'system', 'references.test.ts'))
  .map(path => ({
    path,
    text: readFileSync(join(root, path), 'utf8').replace(/\n[ \t]*(?:\*|\/\/|#|--)?[ \t]*/g, ' '),
  }))

function referencesOf({ path, text }: Page): Reference[] {
  const found: Reference[] = []
  for (const [, first, rest] of text.matchAll(NATIVE)) {
    const names = [first!, ...(rest!.match(/[A-Z][.-]\d+|0\.\d+/g) ?? [])]
    found.push(...names.map(name => ({ path, page: 'native', name })))
  }
  for (const [, names] of text.matchAll(ADMINISTRATION)) {
    for (const name of names!.match(/[A-Z]\d+/g)!) found.push({ path, page: 'administration', name })
  }
  for (const [, names] of text.matchAll(FILTER)) {
    for (const name of names!.match(/P?\d+/g)!) found.push({ path, page: 'filter', name })
  }
  for (const [, file, title, names] of text.matchAll(NUMBERED)) {
    const page = (file ?? title)!.toLowerCase()
    let section = ''
    for (const [, word, number] of names!.matchAll(/(?:(section|row|ruling)s? )?([\d.]*\d)/gi)) {
      const isPart = word !== undefined && word.toLowerCase() !== 'section'
      if (!isPart) section = number!
      found.push({ path, page, name: isPart ? `${section}.${number}` : number! })
    }
  }
  return found
}

/** Numbers of the headings of a page, and of numbered rows and items. */
function namesIn(page: string): ReadonlySet<string> {
  const path = join(root, SPEC, `${page}.md`)
  const names = new Set<string>()
  if (!existsSync(path)) return names
  let section = ''
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, heading] = /^#{2,} ((?:[A-Z]\.)?\d+(?:\.\d+)*|[A-Z](?=\.))/.exec(line) ?? []
    if (heading !== undefined) names.add((section = heading))
    const [, row] = /^\| *((?:[A-Z]-?)?\d+(?:\.\d+)*) *\|/.exec(line) ?? /^(\d+)\. /.exec(line) ?? []
    if (row !== undefined) names.add(/\D/.test(row) ? row : `${section}.${row}`)
  }
  return names
}

const references = pages.flatMap(referencesOf)

test.each(['native', 'conditions', 'authzen', 'administration', 'filter'])(
  'every reference to docs/spec/%s.md names a section, row or ruling of it',
  page => {
    const names = namesIn(page)
    const own = references.filter(reference => reference.page === page)
    expect(own.length).toBeGreaterThan(10)
    const dead = own.filter(({ name }) => !names.has(name)).map(({ path, name }) => `${path}: ${name}`)
    expect(dead).toEqual([])
  },
)

test('every name in native.md is a section or ruling of native.md', () => {
  const names = namesIn('native')
  const text = readFileSync(join(root, SPEC, 'native.md'), 'utf8')
  const used = [...text.matchAll(/(?<![\w.-])(?:[A-D][.-]\d+|0\.\d+)\b/g)].map(([name]) => name)
  expect(used.length).toBeGreaterThan(100)
  expect(used.filter(name => !names.has(name))).toEqual([])
})

test('every ruling is referenced together with its page', () => {
  const stray = pages
    .filter(({ path }) => !path.startsWith(SPEC))
    .flatMap(({ path, text }) => {
      const left = text.replace(NATIVE, '').match(STRAY) ?? []
      return left.map(name => `${path}: ${name}`)
    })
  expect(stray).toEqual([])
})
