/**
 * Builds the page and the files of `console`, as a part of the build. If the sources have not changed, the
 * former output is reused, because bundling the console takes as long as bundling everything else together.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CONSOLE_DIRECTORY } from '../src/composition/process/built-form.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CONSOLE = join(ROOT, 'console')
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')
const run = promisify(execFile)
/** Name of a file with the hash of the sources. It is next to the page, but the service does not serve it. */
const SOURCES_NOTE = 'sources'

/**
 * Writes the page and its files to `made`. This takes about 4 s, unless they can be copied from the former
 * output. Throws the errors of the bundler.
 */
export async function buildConsole(made: string): Promise<void> {
  const sources = sourcesNow()
  if (isConsoleBuilt()) return cpSync(CONSOLE_DIRECTORY, made, { recursive: true })
  // The bundler runs in its own process with its own NODE_ENV, because the bundler reads this variable. A
  // build in tests is therefore identical to a release build.
  await run(process.execPath, [VITE, 'build', CONSOLE, '--logLevel', 'warn', '--outDir', made], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  writeFileSync(join(made, SOURCES_NOTE), sources)
}

/** Whether the console in `dist` was built from the current sources. */
export function isConsoleBuilt(): boolean {
  const note = join(CONSOLE_DIRECTORY, SOURCES_NOTE)
  return existsSync(note) && readFileSync(note, 'utf8') === sourcesNow()
}

function sourcesNow(): string {
  const digest = createHash('sha256')
  const inputs = [
    ...globSync(['index.html', 'package.json', '*.ts', 'src/**/*.{ts,tsx,css,svg}'], { cwd: CONSOLE })
      .toSorted()
      .map(path => join('console', path)),
    'packaging/build-console.ts',
    'package-lock.json',
  ]
  for (const path of inputs) {
    const content = readFileSync(join(ROOT, path))
    digest.update(`${path} ${content.length} `).update(content)
  }
  return digest.digest('hex')
}
