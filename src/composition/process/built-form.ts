/**
 * Selects the form of the code that runs: the build (`dist`, a few files) or the sources. In a checkout, `npm
 * ci` creates the build. After an edit, the sources run until the next build. `VERDICT_FORM=sources` always
 * selects the sources: tests need this if they modify a module before the service starts.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILD_INPUTS, codePaths } from './source-stamp.js'

const isSource = import.meta.url.endsWith('.ts')
const HERE = new URL('.', import.meta.url)
const ROOT = new URL('../../../', import.meta.url)
/** Directory of the build in a checkout. */
export const DIST = fileURLToPath(new URL('dist', ROOT))
/** Name of the file that contains the fingerprint of the sources from which the build was made. */
export const SOURCES_NOTE = 'sources'

/** Directory of the built console. It exists even if the rest runs from the sources. */
export const CONSOLE_DIRECTORY = isSource ? join(DIST, 'console') : fileURLToPath(new URL('console', HERE))

/** Directory of all code that runs. */
export const CODE_DIRECTORY = fileURLToPath(isSource ? new URL('../..', HERE) : HERE)

/**
 * Fingerprint of the contents of the sources and of the other inputs of the build. O(bytes): takes about 20
 * ms.
 */
export function sourcesNow(): string {
  const digest = createHash('sha256')
  for (const path of [...codePaths(fileURLToPath(ROOT)), ...BUILD_INPUTS]) {
    const from = new URL(path, ROOT)
    const content = existsSync(from) ? readFileSync(from) : ''
    digest.update(`${path} ${content.length} `).update(content)
  }
  return digest.digest('hex')
}

/** Whether the build matches the current sources. */
export function isBuilt(): boolean {
  const note = join(DIST, SOURCES_NOTE)
  return existsSync(note) && readFileSync(note, 'utf8') === sourcesNow()
}

const isAskedForSources = process.env['VERDICT_FORM'] === 'sources'
const built = isSource ? (isAskedForSources || !isBuilt() ? null : new URL('dist/', ROOT)) : HERE

/**
 * URL of an entry point: the built file if the build is used, otherwise the source. `source` is its path in
 * the checkout.
 */
export function entry(name: string, source: string): URL {
  return built === null ? new URL(source, ROOT) : new URL(`${name}.js`, built)
}
