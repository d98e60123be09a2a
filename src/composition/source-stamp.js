/**
 * Whether the built form is of the sources as they are, asked quickly: by the names, sizes and times of the files, without reading them.
 * A command of the command line would else take twice as long to start. Whoever gets a no asks by contents (`built-form.ts`). Plain
 * JavaScript, since to load what strips types takes as long again.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The file in the built form that has the stamp. */
export const STAMP_NOTE = 'stamp'

/** What else than `src` and `workers` the build depends on. */
export const BUILD_INPUTS = [
  'packaging/build.ts',
  'packaging/help-width.ts',
  'package.json',
  'package-lock.json',
]

/**
 * The code in a checkout, by its paths from there, in order.
 * @param {string} root
 * @returns {string[]}
 */
export function codePaths(root) {
  return ['src', 'workers']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)),
    )
    .filter(path => /\.(ts|js|lua)$/.test(path))
    .toSorted()
}

/**
 * What `isUnchanged` compares: a line for each file, and for each folder, whose time changes with what is in it.
 * @param {string} root
 * @returns {string}
 */
export function stampOf(root) {
  const code = codePaths(root)
  const folders = new Set(code.map(path => dirname(path)))
  return [...folders, ...code, ...BUILD_INPUTS].map(path => `${timeOf(root, path)} ${path}`).join('\n')
}

/**
 * Whether the build in the checkout is certainly of the sources as they are. O(files): some 3 ms.
 * @param {string} root
 * @returns {boolean}
 */
export function isUnchanged(root) {
  try {
    const lines = readFileSync(join(root, 'dist', STAMP_NOTE), 'utf8').split('\n')
    return lines.every(line => {
      const end = line.indexOf(' ')
      return line.slice(0, end) === timeOf(root, line.slice(end + 1))
    })
  } catch {
    return false
  }
}

/**
 * When it was changed last, and its size. Also when that was noted, which no program can say otherwise: a copy that keeps times has
 * times of its own there.
 * @param {string} root
 * @param {string} path
 * @returns {string}
 */
function timeOf(root, path) {
  const found = statSync(`${root}/${path}`, { throwIfNoEntry: false })
  return `${found?.mtimeMs}-${found?.ctimeMs}-${found?.size}`
}
