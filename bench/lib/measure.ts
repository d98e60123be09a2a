/**
 * Measures times and reports results of the benches: medians of alternating passes, and facts about the
 * machine.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { isAbsolute, relative } from 'node:path'

export interface Figure {
  readonly figure: string
  readonly bar: string
  readonly reached: string
  readonly isMet: boolean
  /** Set if the target was missed because a component other than the measured one was the bottleneck. */
  readonly isVoid?: true
}

/** Returns the figure, marked as void for the given reason. */
export function voided(figure: Figure, reason: string): Figure {
  return { ...figure, reached: `void: ${reason}`, isMet: false, isVoid: true }
}

/** Returns the median. For an even number of values, it is the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/** Duration of `work` in milliseconds. */
export function timeMs(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** Creates the figure for a target of at most `max`. */
export function atMost(figure: string, value: number, max: number, unit: string): Figure {
  return { figure, bar: `≤ ${max} ${unit}`, reached: `${round(value)} ${unit}`, isMet: value <= max }
}

/** Creates the figure for a target of at least `min`. */
export function atLeast(figure: string, value: number, min: number, unit: string): Figure {
  return { figure, bar: `≥ ${min} ${unit}`, reached: `${round(value)} ${unit}`, isMet: value >= min }
}

export function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100
}

/**
 * Directory for the results of this machine. Each machine has its own, because results of different machines
 * must not be compared with each other or replace each other.
 */
export const RESULTS = new URL(`../results/${machineName(cpus()[0]?.model ?? 'unknown')}/`, import.meta.url)

/** Converts `Intel(R) Xeon(R) Processor @ 2.10GHz` to `intel-xeon`. */
export function machineName(cpuModel: string): string {
  return cpuModel
    .replace(/@.*/, '')
    .replaceAll(/\((R|TM|r|tm)\)|\b(CPU|Processor|\d+-Core)\b/g, ' ')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** Makes an absolute path relative, because the directories of one machine have no meaning on another one. */
function withoutDirectory(argument: string): string {
  return isAbsolute(argument) ? relative(process.cwd(), argument) : argument
}

/** Prints the table and writes it, with the raw data, to the results of the machine. */
export function publish(name: string, figures: readonly Figure[], raw: Record<string, unknown>): void {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    command: ['node', ...process.argv.slice(1).map(withoutDirectory)].join(' '),
    commit: commitOfSource(),
    date: new Date().toISOString(),
  }
  const out = process.stdout
  out.write(`\n${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}\n`)
  for (const { figure, bar, reached, isMet, isVoid } of figures) {
    const verdict = isMet ? '  ok ' : isVoid ? ' void' : ' MISS'
    out.write(`${verdict}  ${figure.padEnd(58)} ${bar.padEnd(18)} ${reached}\n`)
  }
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(new URL(`${name}.json`, RESULTS), `${JSON.stringify({ machine, figures, raw }, null, 2)}\n`)
}

/**
 * The measured commit. A plus sign is appended if files differ from the commit. Null if git is not available.
 */
function commitOfSource(): string | null {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim()
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain', 'src') === '' ? '' : '+'}`
  } catch {
    return null
  }
}
