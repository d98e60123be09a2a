/**
 * What the suites of published clients share: they run programs in other languages, and hold what becomes of each method to
 * what docs/compatibility.md says.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The head of the table of clients in docs/compatibility.md. */
const TABLE = /^\| Subject +\| What works/
const TOLD_MAX = 4_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

interface RunOptions {
  readonly in?: string
  readonly env?: Readonly<Record<string, string>>
}

const execute = promisify(execFile)

/** What a program printed; an error with all that it wrote when it fails. */
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
    // Compilers tell what is wrong on their standard output, which the message has not.
    if (error instanceof Error && 'stdout' in error)
      error.message += `\n${String(error.stdout).slice(0, TOLD_MAX)}`
    throw error
  }
}

/** Takes what a test needs from a registry. The reason, in a line, why that cannot be had here; null when it is there. */
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

/** A folder that outlives the run, so that what came from a registry need not come again. */
export function keptFolder(name: string): string {
  const folder = join(ROOT, '.artifacts', 'clients', name)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** A folder of the present test, removed when the test is over. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verdict-clients-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A file or folder beside the suites. */
export function besideSuites(path: string): string {
  return join(ROOT, 'test', 'clients', path)
}

export interface Subject {
  /** As the row of the table names the client. */
  readonly name: string
  /** The suite, as the row names it, and its file in this folder. */
  readonly suite: string
  readonly file: string
  /** What does not work although it is called as it should be, and why. */
  readonly known: Readonly<Record<string, string>>
}

/**
 * Every method works, but for those known not to, and the table says so.
 *
 * @param report JSON of an object: by method `works`, or what went wrong
 */
export function expectReport({ known, ...subject }: Subject, report: string): void {
  const outcomes = Object.entries(JSON.parse(report) as Record<string, string>)
  const failed = outcomes.filter(([, outcome]) => outcome !== 'works')
  expect(failed.filter(([method]) => !(method in known))).toEqual([])
  expect(failed.map(([method]) => method).toSorted()).toEqual(Object.keys(known).toSorted())
  const works = `${outcomes.length - failed.length} of ${outcomes.length}`
  expectRow([subject.name, works, reasonsIn(known), `[${subject.suite}](../test/clients/${subject.file})`])
}

/** Methods with the same reason stand together. */
function reasonsIn(known: Readonly<Record<string, string>>): string {
  const methods = Map.groupBy(Object.entries(known), ([, reason]) => reason)
  const told = [...methods].map(
    ([reason, entries]) => `${entries.map(([method]) => `\`${method}\``).join(', ')}: ${reason}`,
  )
  return told.join('; ')
}

/** docs/compatibility.md has this row, however wide its columns are. `VERDICT_ROWS=write` makes it so. */
export function expectRow(cells: readonly string[]): void {
  const file = join(ROOT, 'docs/compatibility.md')
  const lines = readFileSync(file, 'utf8').split('\n')
  const row = `| ${cells.join(' | ')} |`
  const at = lines.findIndex(line => line.startsWith(`| ${cells[0]} `))
  if (process.env['VERDICT_ROWS'] === 'write') {
    if (at !== -1) lines[at] = row
    else
      lines.splice(
        lines.indexOf(
          '',
          lines.findIndex(line => TABLE.test(line)),
        ),
        0,
        row,
      )
    writeFileSync(file, lines.join('\n'))
  } else {
    expect(lines[at]?.replaceAll(/ +/g, ' ')).toBe(row.replaceAll(/ +/g, ' '))
  }
}
