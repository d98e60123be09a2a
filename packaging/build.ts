/**
 * Builds `dist`: bundles each entry point with its imports into a few files. A thread then takes 0.14 s of
 * processor time to start. With 300 separate modules, it takes 0.55 s. Packages are not bundled, except for
 * those with many small files. In a checkout, `npm ci` runs the build (`prepare`), and tests run it before
 * they start.
 */
import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { DIST, SOURCES_NOTE, sourcesNow } from '../src/composition/process/built-form.ts'
import { compiledFolder } from '../src/composition/process/quick-entry.js'
import { STAMP_NOTE, stampOf } from '../src/composition/process/source-stamp.js'
import { buildConsole } from './build-console.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Packages that are bundled, because each of them consists of hundreds of modules. */
const BUNDLED_PACKAGES =
  /^(typebox|pino|pino-abstract-transport|pino-std-serializers|sonic-boom|atomic-sleep|on-exit-leak-free|process-warning|quick-format-unescaped|real-require|safe-stable-stringify|thread-stream|@pinojs\/redact|yargs|yargs-parser|cliui|escalade|get-caller-file|string-width|strip-ansi|wrap-ansi|ansi-regex|ansi-styles|emoji-regex|get-east-asian-width|y18n)(\/|$)/

/**
 * Replaces imports of built-in modules by calls of `process.getBuiltinModule`. For an `import`, Node.js
 * creates a facade module that reads every export and thereby loads unused code. This takes a fifth of the
 * time that a thread needs to load its code.
 */
export function builtinsWithoutFacades(code: string): string {
  return code.replaceAll(
    /^import (\* as (\w+)|(\w+)|\{([^}]*)\}) from "((?:node:)?(\w[\w/]*))";$/gm,
    (whole, _what, namespace, fallback, names, id) => {
      if (!isBuiltin(id)) return whole
      const target = namespace ?? fallback ?? `{${names.replaceAll(' as ', ': ')}}`
      return `const ${target} = process.getBuiltinModule("${id}");`
    },
  )
}

/**
 * Builds the code and replaces the whole folder `dist`. This takes about 2 s, or 4 s if the console changed.
 */
export async function build(): Promise<void> {
  // The hash is computed before the build reads the sources. If a source changes during the build, the result
  // therefore counts as outdated.
  const [sources, stamp] = [sourcesNow(), stampOf(ROOT)]
  const made = mkdtempSync(`${DIST}.`)
  const workers = globSync('workers/*.ts', { cwd: ROOT })
  const entries = [
    ['start', 'src/start.js'],
    ['verdict', 'src/verdict.js'],
    ['main', 'src/main.ts'],
    ['cli', 'src/cli/main.ts'],
    ...workers.map(path => [basename(path, '.ts'), path]),
  ] as [name: string, path: string][]
  await Promise.all([
    ...entries.map(([name, path]) => buildEntry(name, path, made)),
    buildConsole(join(made, 'console')),
    buildFilter(join(made, 'filter')),
  ])
  for (const path of globSync('src/**/*.lua', { cwd: ROOT }))
    cpSync(join(ROOT, path), join(made, basename(path)))
  writeFileSync(join(made, SOURCES_NOTE), sources)
  writeFileSync(join(made, STAMP_NOTE), stamp)
  // Other users can read the folder, like the other folders of a checkout, because the service can run as
  // another user.
  chmodSync(made, 0o755)
  replace(made)
  forgetCompiled(made)
}

/**
 * Bundles one entry point into one file. Only dynamic imports are in separate files. Threads share no
 * modules, so each file contains its own copy of shared code. With separate files, each thread would have to
 * find, read and link 40 files.
 */
async function buildEntry(name: string, path: string, dir: string): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { [name]: path },
    platform: 'node',
    resolve: { alias: { 'string-width': join(ROOT, 'packaging/help-width.ts') } },
    treeshake: false,
    plugins: [{ name: 'builtins', renderChunk: code => builtinsWithoutFacades(code) }],
    external: id => !/^[./#]/.test(id) && !id.startsWith(ROOT) && !BUNDLED_PACKAGES.test(id),
  })
  // All files are in one folder, so that a path relative to a module is the same in all of them.
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // The minifier is disabled, because it would remove calls whose only purpose is to throw for invalid
    // input, such as `decodeURIComponent`. Tree shaking is disabled above for the same reason.
    minify: false,
  })
  await bundle.close()
}

/** Builds the adapters of filters with their types. They run without the service, and without Node.js. */
async function buildFilter(dir: string): Promise<void> {
  const names = ['adapters', 'kysely', 'drizzle', 'prisma']
  const types = join(ROOT, 'packaging/filter-types.json')
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const declared = promisify(execFile)(process.execPath, [compiler, '--project', types, '--outDir', dir])
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(names.map(name => [name, `src/filter/${name}.ts`])),
    platform: 'neutral',
    external: id => !/^[./]/.test(id) && !id.startsWith(ROOT),
  })
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: false,
  })
  await bundle.close()
  await declared
  for (const path of globSync('*.d.ts', { cwd: dir })) {
    const text = readFileSync(join(dir, path), 'utf8')
    writeFileSync(join(dir, path), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
}

/**
 * Replaces the former build by renaming folders, so that `dist` is never incomplete. If a concurrent build
 * has already replaced it, the result of that build is kept.
 */
function replace(made: string): void {
  const former = `${made}.former`
  for (const [from, to] of [
    [DIST, former],
    [made, DIST],
  ] as const) {
    try {
      renameSync(from, to)
    } catch (error) {
      // There is no former build, or a concurrent build has already replaced it.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error
    }
  }
  for (const folder of [made, former]) rmSync(folder, { recursive: true, force: true })
}

/**
 * Deletes the V8 cache of the former code. The folder is renamed first, because a process that is ending can
 * still write to it.
 */
function forgetCompiled(made: string): void {
  const former = `${compiledFolder}.${basename(made)}`
  try {
    renameSync(compiledFolder, former)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  rmSync(former, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
