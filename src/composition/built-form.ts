/**
 * Which form of the code runs: the built one (`dist`, a few files), or the sources as they are. `npm ci` builds a checkout.
 * After an edit the sources run until the next build. `VERDICT_FORM=sources` runs them in any case. Tests need that when
 * they break a module before the service begins: what they change is a source.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILD_INPUTS, codePaths } from './source-stamp.js'

const isSource = import.meta.url.endsWith('.ts')
const HERE = new URL('.', import.meta.url)
const ROOT = new URL('../../', import.meta.url)
/** The folder of a checkout that holds the built form. */
export const DIST = fileURLToPath(new URL('dist', ROOT))
/** The file that names the sources the build was made of. */
export const SOURCES_NOTE = 'sources'

/** The folder of the built console, which is there whether the rest runs from it or from the sources. */
export const CONSOLE_DIRECTORY = isSource ? join(DIST, 'console') : fileURLToPath(new URL('console', HERE))

/** All the code that runs. */
export const CODE_DIRECTORY = fileURLToPath(isSource ? new URL('..', HERE) : HERE)

/** Names the sources, and what else the build depends on, by their contents. O(bytes): some 20 ms. */
export function sourcesNow(): string {
  const digest = createHash('sha256')
  for (const path of [...codePaths(fileURLToPath(ROOT)), ...BUILD_INPUTS]) {
    const from = new URL(path, ROOT)
    const content = existsSync(from) ? readFileSync(from) : ''
    digest.update(`${path} ${content.length} `).update(content)
  }
  return digest.digest('hex')
}

/** Whether the build was made of the sources as they are now. */
export function isBuilt(): boolean {
  const note = join(DIST, SOURCES_NOTE)
  return existsSync(note) && readFileSync(note, 'utf8') === sourcesNow()
}

const isAskedForSources = process.env['VERDICT_FORM'] === 'sources'
const built = isSource ? (isAskedForSources || !isBuilt() ? null : new URL('dist/', ROOT)) : HERE

/** The URL of an entry point: the built file, or else the source. `source` is its path in the checkout. */
export function entry(name: string, source: string): URL {
  return built === null ? new URL(source, ROOT) : new URL(`${name}.js`, built)
}
