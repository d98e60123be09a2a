/**
 * Which form of the code a process begins with, asked as quickly as it can be: where the files say by their times that they are what was
 * built, nothing is read (`source-stamp.js`), and nothing is loaded that strips types. Else `built-form.ts` says it. Plain JavaScript
 * for that reason.
 */
import { fileURLToPath } from 'node:url'
import { isUnchanged } from './source-stamp.js'

const isSource = import.meta.url.endsWith('/src/composition/quick-entry.js')
/** The checkout, or the package. */
const ROOT = new URL(isSource ? '../../' : '../', import.meta.url)

/** The folder for what V8 has compiled, which whoever may write there owns as he owns the code. */
export const compiledFolder = fileURLToPath(new URL('node_modules/.cache/compiled', ROOT))

/**
 * The URL of an entry point. `source` is its path in the checkout.
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
