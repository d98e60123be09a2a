/**
 * Makes the console's page and its files of `console`, as a part of the build. What was made of the same sources is taken over, since
 * the bundler takes as long for it as for all the rest.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CONSOLE_DIRECTORY } from '../src/composition/built-form.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CONSOLE = join(ROOT, 'console')
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')
const run = promisify(execFile)
/** The file that names the sources the console was made of. It is beside the page, where nothing is served from. */
const SOURCES_NOTE = 'sources'

/** Writes the page and its files into `made`. Throws what the bundler throws. Some 4 s, or nothing. */
export async function buildConsole(made: string): Promise<void> {
  const sources = sourcesNow()
  if (isConsoleBuilt()) return cpSync(CONSOLE_DIRECTORY, made, { recursive: true })
  // A process of its own, since the bundler looks at NODE_ENV: what a test builds is what is shipped.
  await run(process.execPath, [VITE, 'build', CONSOLE, '--logLevel', 'warn', '--outDir', made], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  writeFileSync(join(made, SOURCES_NOTE), sources)
}

/** Whether the console in `dist` was made of the sources as they are now. */
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
