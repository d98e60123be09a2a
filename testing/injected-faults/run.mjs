#!/usr/bin/env node
/**
 * Injects the faults of faults.json, one at a time, into a checkout and reports which of them its tests
 * detect.
 *
 *   node run.mjs CHECKOUT OUT.json [--project first,long] [--only F01,F02] [--map OLD=NEW,...]
 *
 * --project  runs only the tests of these levels (vitest projects).
 * --only     runs only these faults and keeps the results of the others in OUT.json.
 * --map      renames source and test files or folders whose paths differ in the checkout.
 *
 * A fault is detected if a test fails, or if a hook fails in a file whose tests were collected. Failures of a
 * transform or an import do not count. The changed file is always restored. After a SIGKILL, the next run
 * restores it from OUT.json.restore.
 */
import { spawn } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const LIMIT_MS = 10 * 60_000
const NOT_A_TEST =
  /Transform failed|\[PARSE_ERROR\]|Parse failure|SyntaxError|Failed to (resolve|load|parse)|Cannot find (module|package)|does not provide an export/

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { project: { type: 'string' }, only: { type: 'string' }, map: { type: 'string' } },
})
const [checkout, out] = positionals.map(path => resolve(path))
if (!checkout || !out) {
  process.stderr.write(
    'node run.mjs CHECKOUT OUT.json [--project first,long] [--only F01,F02] [--map OLD=NEW,...]\n',
  )
  process.exit(2)
}
const levels = values.project?.split(',') ?? []
const maps = (values.map ?? '')
  .split(',')
  .filter(Boolean)
  .map(pair => pair.split('='))
const faults = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'faults.json'), 'utf8'))
const only = values.only?.split(',')
const unknown = only?.filter(id => !faults.some(fault => fault.id === id)) ?? []
if (unknown.length > 0) {
  process.stderr.write(`no such fault: ${unknown.join()}\n`)
  process.exit(2)
}
const kept = only && existsSync(out) ? JSON.parse(readFileSync(out, 'utf8')).results : []
const results = new Map(kept.map(result => [result.id, result]))

/** State that the exit handlers use: the file to restore, and the process to stop. */
const restoreNote = `${out}.restore`
let restore = () => {}
let child = null
if (existsSync(restoreNote)) {
  const { path, text } = JSON.parse(readFileSync(restoreNote, 'utf8'))
  writeFileSync(path, text)
  rmSync(restoreNote)
  process.stderr.write(`restored ${path}, which a run before had left\n`)
}
function killChild() {
  try {
    if (child) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing to do: the process has already ended.
  }
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])
  process.on(signal, () => {
    killChild()
    restore()
    process.exit(130)
  })
process.on('exit', () => restore())

function mapped(path) {
  for (const [from, to] of maps) {
    if (path === from) return to
    const folder = from.endsWith('/') ? from : `${from}/`
    if (path.startsWith(folder)) return to.replace(/\/?$/, '/') + path.slice(folder.length)
  }
  return path
}

function vitest(tests, report) {
  const args = [
    'vitest',
    'run',
    '--bail',
    '1',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]
  args.push(...levels.flatMap(level => ['--project', level]))
  return new Promise(done => {
    child = spawn('npx', [...args, ...tests], {
      cwd: checkout,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    })
    let text = ''
    const add = chunk => (text = (text + chunk).slice(-20_000))
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      killChild()
    }, LIMIT_MS)
    child.on('exit', exit => {
      clearTimeout(timer)
      // Stops processes that the tests have started and that still keep the pipes open.
      killChild()
      child = null
      done({ exit, timedOut, text })
    })
  })
}

/** Returns the first failure as `{test, why}`, or null if no test failed. */
function firstFailure(report) {
  if (!existsSync(report)) return null
  const files = JSON.parse(readFileSync(report, 'utf8')).testResults
  const failed = files
    .flatMap(file => file.assertionResults.map(test => ({ ...test, file: file.name })))
    .filter(test => test.status === 'failed')
    .toSorted((one, other) => (one.startTime ?? 0) - (other.startTime ?? 0))
  const shortened = path => path.replace(`${checkout}/`, '')
  if (failed.length > 0) {
    const [{ fullName, file, failureMessages }] = failed
    return {
      test: `${shortened(file)} > ${fullName}`,
      why: (failureMessages?.[0] ?? '').slice(0, 300),
      broken: false,
    }
  }
  const broken = files.find(file => file.status === 'failed')
  if (!broken) return null
  const why = (broken.message ?? '').slice(0, 300)
  const isTest = broken.assertionResults.length > 0 && !NOT_A_TEST.test(why)
  return { test: `${shortened(broken.name)} (the file)`, why, broken: !isTest }
}

async function judge(fault) {
  const file = join(checkout, mapped(fault.file))
  const tests = fault.tests.map(mapped)
  const present = tests.filter(path => existsSync(join(checkout, path)))
  const skipped = tests.filter(path => !present.includes(path))
  const result = { id: fault.id, behavior: fault.behavior, detected: false, test: null, seconds: 0 }
  if (skipped.length > 0) result.skipped = skipped
  if (!existsSync(file)) return { ...result, error: `no such file: ${mapped(fault.file)}` }
  const text = readFileSync(file, 'utf8')
  const count = text.split(fault.find).length - 1
  if (count !== 1) return { ...result, error: `the text to find occurs ${count} times` }
  if (present.length === 0) return { ...result, error: 'none of its test files exists' }
  const dir = mkdtempSync(join(tmpdir(), 'verdict-faults-'))
  const report = join(dir, 'report.json')
  const begun = Date.now()
  restore = () => {
    writeFileSync(file, text)
    rmSync(restoreNote, { force: true })
    restore = () => {}
  }
  try {
    writeFileSync(restoreNote, JSON.stringify({ path: file, text }))
    writeFileSync(
      file,
      text.replace(fault.find, () => fault.replace),
    )
    const { exit, timedOut, text: said } = await vitest(present, report)
    result.seconds = Math.round((Date.now() - begun) / 100) / 10
    result.exit = exit
    if (timedOut) return { ...result, error: 'it took longer than 10 minutes' }
    const failure = firstFailure(report)
    if (exit === 0) return result
    if (failure && !failure.broken) return { ...result, detected: true, test: failure.test, why: failure.why }
    return { ...result, error: failure ? `${failure.test}: ${failure.why}` : said.slice(-1500) }
  } finally {
    restore()
    rmSync(dir, { recursive: true, force: true })
  }
}

function commitOf() {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

const commit = commitOf()
for (const fault of faults) {
  if (only && !only.includes(fault.id)) continue
  const result = await judge(fault)
  results.set(fault.id, result)
  const inOrder = faults.filter(({ id }) => results.has(id)).map(({ id }) => results.get(id))
  const detected = inOrder.filter(each => each.detected).length
  writeFileSync(
    out,
    `${JSON.stringify({ checkout, commit, levels, detected, of: inOrder.length, results: inOrder }, null, 2)}\n`,
  )
  const { skipped, error } = result
  process.stdout.write(
    `${fault.id} ${result.detected ? 'detected' : error ? 'ERROR' : 'NOT DETECTED'} ${result.seconds} s  ${result.test ?? error?.split('\n')[0] ?? ''}` +
      `${skipped ? `  (skipped, not there: ${skipped.join(', ')})` : ''}\n`,
  )
}
