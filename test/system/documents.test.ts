/** Generated parts of documents are current, their links have targets, and their claims have tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DOCUMENT_PATHS, documentOf, documentText } from '../../packaging/documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const documents = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map(String)
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]

function textOf(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

test.each(DOCUMENT_PATHS)('the generated parts of %s are current', async path => {
  const text = documentText(path)
  expect(await documentOf(path, text), '`npm run documents` writes it').toBe(text)
})

test.each(documents)('every row of a table in %s has as many cells as the heading of the table', document => {
  const blocks = textOf(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .split(/\n(?! *\|)/)
  const cellsOf = (row: string): number => row.split(/(?<!\\)\|/).length
  const wrong = blocks.flatMap(block => {
    const rows = block.split('\n').filter(line => /^ *\|/.test(line))
    return rows.filter(row => cellsOf(row.trim()) !== cellsOf(rows[0]!.trim()))
  })
  expect(wrong).toEqual([])
})

/** Anchors of the headings of a document, as GitHub generates them. */
function anchorsOf(document: string): Set<string> {
  const headings = textOf(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test.each(documents)('every anchor in a link of %s is a heading of its target', document => {
  const links = [...textOf(document).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].map(([, path, anchor]) => ({
    target: path === '' ? document : join(dirname(document), path!),
    anchor: anchor!,
  }))
  const dead = links.filter(
    ({ target, anchor }) =>
      target.endsWith('.md') && (!existsSync(join(root, target)) || !anchorsOf(target).has(anchor)),
  )
  expect(dead).toEqual([])
})

test.each(documents)('every relative link of %s leads to a file', document => {
  const targets = [...textOf(document).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target]) => target!)
  const dead = targets.filter(
    target => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(document), target)),
  )
  expect(dead).toEqual([])
})

test('every row of the tables of docs/compatibility.md names a test, except for the settings', () => {
  const [, ...sections] = textOf('docs/compatibility.md').split(/^## /m)
  const rows = sections
    .filter(section => !section.startsWith('What to set'))
    .flatMap(section => [...section.matchAll(/^\|.*\|$/gm)].map(([row]) => row))
    .filter(row => !row.startsWith('| Subject ') && !row.startsWith('| Story ') && !/^[|\s-]+$/.test(row))
  expect(rows.length).toBeGreaterThan(45)
  expect(rows.filter(row => !/\]\(\.\.\/test\/[^)]+\.test\.ts\) *(, .*)?\|$/.test(row))).toEqual([])
})

test('every row of docs/threat-model.md names a test that exists, or a claim', () => {
  const rows = [...textOf('docs/threat-model.md').matchAll(/^\| (?!-|Attack)(.*) \|$/gm)].map(
    ([, row]) => row!,
  )
  expect(rows.length).toBeGreaterThan(30)
  const untested = rows.filter(row => {
    const [, path, name] =
      /`((?:test|bench\/claims)\/\S+\.(?:test|claim)\.ts)`(?: "(.+)")?\s*$/.exec(row) ?? []
    if (path === undefined || !existsSync(join(root, path))) return true
    return name !== undefined && !/\.redis\./.test(path) && !textOf(path).includes(name)
  })
  expect(untested).toEqual([])
})
