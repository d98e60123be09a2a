/**
 * Selects the form of the code at the start of a process, as fast as possible. If the times of the files show
 * that the build is current, this module reads no file contents (`source-stamp.js`) and does not load the
 * type stripper. Otherwise `built-form.ts` decides. This module is plain JavaScript, because TypeScript would
 * require the type stripper.
 */
import { fileURLToPath } from 'node:url'
import { isUnchanged } from './source-stamp.js'

const isSource = import.meta.url.endsWith('/src/composition/process/quick-entry.js')
/** Root of the checkout or of the package. */
const ROOT = new URL(isSource ? '../../../' : '../', import.meta.url)

/** Directory for the compiled code of V8. A user who can write there can change the code as well. */
export const compiledFolder = fileURLToPath(new URL('node_modules/.cache/compiled', ROOT))

/**
 * URL of an entry point. `source` is its path in the checkout.
 * @param {string} name
 * @param {string} source
 * @returns {Promise<string>}
 */
export async function entryOf(name, source) {
  if (!isSource) return new URL(`${name}.js`, import.meta.url).href
  if (process.env['VERDICT_FORM'] !== 'sources' && isUnchanged(fileURLToPath(ROOT))) {
    return new URL(`dist/${name}.js`, ROOT).href
  }
  const { entry } = await import('./built-form.ts')
  return entry(name, source).href
}
