/** The files of the project that the language check reads, and the reader of each. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCode } from './code.ts'
import { readLineComments } from './comments.ts'
import { readMarkdown } from './markdown.ts'
import { capitalized, type FileText, type Passage } from './passages.ts'

/** Folders that contain no text of the project: packages, generated files, data of other projects. */
const SKIPPED = new Set([
  'node_modules',
  'dist',
  '.git',
  '.artifacts',
  'results',
  'vectors',
  'releases',
  'types',
])
const GERMAN = /(?:^|\/|\.)de\.ts$/

const READERS: readonly (readonly [RegExp, (path: string, source: string) => FileText])[] = [
  [/\.md$/, (_path, source) => readMarkdown(source)],
  [/\.(?:ts|tsx|js|mjs)$/, readCode],
  [/^test\/scenarios\/.*\.yaml$/, (_path, source) => readScenario(source)],
  [
    /\.(?:ya?ml|sh|cfg|service|conf|toml)$|Dockerfile$|\.ci\/run$/,
    (_path, source) => readLineComments(source, '#'),
  ],
  [/\.lua$/, (_path, source) => readLineComments(source, '--')],
]

/** Comments, and the names of the tests of a model file. */
function readScenario(source: string): FileText {
  const { passages, markers } = readLineComments(source, '#')
  const names = source.split('\n').flatMap((text, index): Passage[] => {
    const name = /^\s*- name: (['"]?)(.*)\1$/.exec(text)?.[2]
    return name === undefined
      ? []
      : [{ kind: 'test', lines: [{ number: index + 1, text: capitalized(name) }] }]
  })
  return { passages: [...passages, ...names], markers }
}

/** Paths, relative to the root, of all files below `folder` that have a reader, sorted. */
export function languageFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(entry => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : languageFiles(root, path)
      return entry.isFile() && !GERMAN.test(path) && readerOf(path) ? [path] : []
    })
}

export function readLanguageFile(root: string, path: string): FileText {
  const read = readerOf(path)
  return read ? read(path, readFileSync(join(root, path), 'utf8')) : { passages: [], markers: [] }
}

function readerOf(path: string) {
  return READERS.find(([pattern]) => pattern.test(path))?.[1]
}
