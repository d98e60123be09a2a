/**
 * Which form of the code runs: the built one (`dist`, a few files), or the sources as they are. A checkout is built by `npm ci`;
 * after an edit the sources run until it is built again. `VERDICT_FORM=sources` runs them in any case: who changes a module before the
 * service begins, as tests do that break one, changes that of the sources.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const isSource = import.meta.url.endsWith('.ts')
const HERE = new URL('.', import.meta.url)
const ROOT = new URL('../../', import.meta.url)
/** The folder of the built form, of a checkout. */
export const DIST = fileURLToPath(new URL('dist', ROOT))
/** What the build was made of. */
export const SOURCES_NOTE = 'sources.json'

/** All the code that runs. */
export const CODE_DIRECTORY = fileURLToPath(isSource ? new URL('..', HERE) : HERE)

/** Names what the sources are: how many files of how many bytes, and when one of them was changed last. */
interface Sources {
  readonly files: number
  readonly bytes: number
  readonly changedMs: number
}

/** O(files): some 5 ms. */
export function sourcesNow(): Sources {
  const now = { files: 0, bytes: 0, changedMs: 0 }
  for (const folder of ['src', 'workers']) {
    const found = readdirSync(new URL(folder, ROOT), { recursive: true, withFileTypes: true })
    for (const file of found.filter(item => item.isFile())) {
      const { size, mtimeMs } = statSync(join(file.parentPath, file.name))
      now.files += 1
      now.bytes += size
      now.changedMs = Math.max(now.changedMs, mtimeMs)
    }
  }
  return now
}

/** Whether what was built is what the sources say now. */
export function isBuilt(): boolean {
  try {
    const built = JSON.parse(readFileSync(join(DIST, SOURCES_NOTE), 'utf8')) as Sources
    const { files, bytes, changedMs } = sourcesNow()
    return built.files === files && built.bytes === bytes && built.changedMs === changedMs
  } catch {
    return false
  }
}

const isAskedForSources = process.env['VERDICT_FORM'] === 'sources'
const built = isSource ? (isAskedForSources || !isBuilt() ? null : new URL('dist/', ROOT)) : HERE

/** An entry point: the built one, or else that source, by its path in the checkout. */
export function entry(name: string, source: string): URL {
  return built === null ? new URL(source, ROOT) : new URL(`${name}.js`, built)
}
