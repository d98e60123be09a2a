/** Helpers that run programs in other languages and compare outcomes with docs/compatibility.md. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The header of the table of clients in docs/compatibility.md. */
const TABLE = /^\| Subject +\| What works/
const MESSAGE_MAX = 4_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

interface RunOptions {
  readonly in?: string
  readonly env?: Readonly<Record<string, string>>
}

const execute = promisify(execFile)

/** Runs a program and returns its output. If it fails, the error contains the output. */
export async function run(
  program: string,
  words: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  try {
    const { stdout } = await execute(program, words, {
      cwd: options.in ?? ROOT,
      env: { ...process.env, ...options.env },
      maxBuffer: OUTPUT_BYTES_MAX,
    })
    return stdout
  } catch (error) {
    // Compilers print errors to the standard output. The message of `error` does not contain this output.
    if (error instanceof Error && 'stdout' in error)
      error.message += `\n${String(error.stdout).slice(0, MESSAGE_MAX)}`
    throw error
  }
}

/** Installs packages from a registry. Returns null, or the reason of a failure as one line. */
export async function reasonAgainst(install: () => Promise<unknown>): Promise<string | null> {
  try {
    await install()
    return null
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const { stderr } = error as { stderr?: string }
    return [message.split('\n')[0], ...(stderr ? [stderr.trim().split('\n').at(-1)] : [])].join(': ')
  }
}

/** A folder for installed packages that is kept for later runs. */
export function keptFolder(name: string): string {
  const folder = join(ROOT, '.artifacts', 'clients', name)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** A file or folder of this directory. */
export function besideSuites(path: string): string {
  return join(ROOT, 'test', 'clients', path)
}

export interface Subject {
  /** Name of the client in the table. */
  readonly name: string
  /** Name of the suite in the table, and its file in this folder. */
  readonly suite: string
  readonly file: string
  /** Methods that fail although they are called correctly, each with its reason. */
  readonly known: Readonly<Record<string, string>>
}

/**
 * Expects that exactly the known methods fail, and that the table lists these methods. `report` is a JSON
 * object with `works` or the error for each method.
 */
export function expectReport({ known, ...subject }: Subject, report: string): void {
  const outcomes = Object.entries(JSON.parse(report) as Record<string, string>)
  const failed = outcomes.filter(([, outcome]) => outcome !== 'works')
  expect(failed.filter(([method]) => !(method in known))).toEqual([])
  expect(failed.map(([method]) => method).toSorted()).toEqual(Object.keys(known).toSorted())
  const works = `${outcomes.length - failed.length} of ${outcomes.length}`
  expectRow([subject.name, works, reasonsIn(known), `[${subject.suite}](../test/clients/${subject.file})`])
}

/** Lists the methods for each reason. */
function reasonsIn(known: Readonly<Record<string, string>>): string {
  const methods = Map.groupBy(Object.entries(known), ([, reason]) => reason)
  return [...methods]
    .map(([reason, entries]) => `${entries.map(([method]) => `\`${method}\``).join(', ')}: ${reason}`)
    .join('; ')
}

/** Expects this row in docs/compatibility.md. If `VERDICT_ROWS` is `write`, adds or replaces the row. */
export function expectRow(cells: readonly string[]): void {
  const file = join(ROOT, 'docs/compatibility.md')
  const lines = readFileSync(file, 'utf8').split('\n')
  const row = `| ${cells.join(' | ')} |`
  const at = lines.findIndex(line => line.startsWith(`| ${cells[0]} `))
  if (process.env['VERDICT_ROWS'] === 'write') {
    const table = lines.findIndex(line => TABLE.test(line))
    if (at !== -1) lines[at] = row
    else lines.splice(lines.indexOf('', table), 0, row)
    writeFileSync(file, lines.join('\n'))
  } else {
    expect(lines[at]?.replaceAll(/ +/g, ' ')).toBe(row.replaceAll(/ +/g, ' '))
  }
}
