/** Lists the files that the language check reads, and the reader for each of them. */
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCode } from './code.ts'
import { readLineComments } from './comments.ts'
import { readMarkdown } from './markdown.ts'
import { capitalized, type FileText, type Passage } from './passages.ts'

/** Packages, generated files, results of benches, and data of other projects and of older releases. */
const SKIPPED =
  /(?:^|\/)node_modules\/|^(?:\.git|\.artifacts|dist(?:\.[^/]+)?|console\/types|bench\/results|test\/vectors|test\/system\/releases)\//
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

/** Reads a model file: its comments and the names of its tests. */
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

/**
 * Paths, relative to the root, of all tracked files that have a reader, sorted. Without git, for example in
 * an unpacked archive, all files in the folder count as tracked.
 */
export function languageFiles(root: string): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const paths = stdout ? stdout.split('\0') : readdirSync(root, { recursive: true, encoding: 'utf8' })
  return paths
    .filter(path => !SKIPPED.test(path) && !GERMAN.test(path) && readerOf(path))
    .filter(path => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    .toSorted()
}

export function readLanguageFile(root: string, path: string): FileText {
  const read = readerOf(path)
  return read ? read(path, readFileSync(join(root, path), 'utf8')) : { passages: [], markers: [] }
}

function readerOf(path: string) {
  return READERS.find(([pattern]) => pattern.test(path))?.[1]
}
