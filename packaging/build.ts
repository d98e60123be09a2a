/**
 * Makes the built form, `dist`: every entry point with what it imports in a few files, since a thread that imports 300 modules
 * one by one takes 0.55 s of processor time to start, and 0.14 s so. Packages stay packages, but for those of many small files.
 * `npm ci` runs it in a checkout (`prepare`), tests before they begin.
 */
import { chmodSync, cpSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { DIST, SOURCES_NOTE, sourcesNow } from '../src/composition/built-form.ts'
import { compiledFolder } from '../src/composition/quick-entry.js'
import { STAMP_NOTE, stampOf } from '../src/composition/source-stamp.js'
import { buildConsole } from './build-console.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Of hundreds of modules each. */
const BUNDLED_PACKAGES =
  /^(typebox|pino|pino-abstract-transport|pino-std-serializers|sonic-boom|atomic-sleep|on-exit-leak-free|process-warning|quick-format-unescaped|real-require|safe-stable-stringify|thread-stream|@pinojs\/redact|yargs|yargs-parser|cliui|escalade|get-caller-file|string-width|strip-ansi|wrap-ansi|ansi-regex|ansi-styles|emoji-regex|get-east-asian-width|y18n)(\/|$)/

/**
 * Takes what Node itself has from its objects. An `import` of it makes a module of it first, which reads every export, and so loads
 * what nobody asked for: a fifth of what a thread takes to load its code.
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

/** Replaces `dist` as a whole. Some 2 s, and 4 s where the console changed. */
export async function build(): Promise<void> {
  // Before they are read: what is changed meanwhile is none of the build.
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
  ])
  for (const path of globSync('src/**/*.lua', { cwd: ROOT }))
    cpSync(join(ROOT, path), join(made, basename(path)))
  writeFileSync(join(made, SOURCES_NOTE), sources)
  writeFileSync(join(made, STAMP_NOTE), stamp)
  // As any folder of a checkout: a service may run as another user.
  chmodSync(made, 0o755)
  replace(made)
  forgetCompiled(made)
}

/**
 * One entry point, in one file but for what it loads late. Threads share no modules, and so no files: code that several of them have is
 * there several times, where in files of its own each would be found, read and linked by itself, 40 of them in a thread.
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
  // In one folder: what a module finds beside itself is beside every file.
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // What is written is what runs: a call that is there because it may throw, as of `decodeURIComponent`, would be taken away as one
    // without effect. For the same reason nothing is shaken out above.
    minify: false,
  })
  await bundle.close()
}

/** Puts a build in place of the former one: half of one is never there. Where another build was quicker, that one stays. */
function replace(made: string): void {
  const former = `${made}.former`
  for (const [from, to] of [
    [DIST, former],
    [made, DIST],
  ] as const) {
    try {
      renameSync(from, to)
    } catch (error) {
      // There is none yet, or another one is there by now.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error
    }
  }
  for (const folder of [made, former]) rmSync(folder, { recursive: true, force: true })
}

/** Removes what V8 compiled of former code. It is moved first: a process that ends just now may write into the folder. */
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
