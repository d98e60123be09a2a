/**
 * The published Python client, as it is in its registry, against a running service: every method it has. What becomes of each is
 * what docs/compatibility.md says, or this fails.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DRIVE = fileURLToPath(new URL('python/drive.py', import.meta.url))

/** What does not work although it is called as it should be, by version. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '3.0.0': {},
  '2.8.3': {
    'permit.authorized_users': 'fails in the client itself, when it reads the answer',
    'resource_relations.list':
      'insists on a bare array and does not say who it is; later versions insist on the envelope',
  },
}

/** The interpreter of an environment of its own that has the client; the reason why there is none. */
async function install(version: string): Promise<{ python: string } | { reason: string }> {
  const directory = join(ROOT, '.artifacts', 'clients', `python-${version}`)
  const python = join(directory, 'bin', 'python')
  try {
    mkdirSync(join(ROOT, '.artifacts', 'clients'), { recursive: true })
    if (!existsSync(python)) await run('python3', ['-m', 'venv', directory])
    await run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `permit==${version}`,
    ])
    return { python }
  } catch (error) {
    return { reason: error instanceof Error ? error.message.split('\n')[0]! : String(error) }
  }
}

describe.each(Object.entries(KNOWN))('permit %s', (version, known) => {
  test('works with every method, but for those that are known not to', async context => {
    const installed = await install(version)
    if ('reason' in installed) return context.skip(`no Python client here: ${installed.reason}`)
    const service = await startedService()
    const { stdout } = await run(installed.python, [DRIVE, service.address, API_KEY, ADMIN_KEY])
    const outcomes = Object.entries(JSON.parse(stdout) as Record<string, string>)
    const failed = outcomes.filter(([, outcome]) => outcome !== 'works')
    expect(failed.filter(([method]) => !(method in known))).toEqual([])
    expect(failed.map(([method]) => method).toSorted()).toEqual(Object.keys(known).toSorted())

    const works = `${outcomes.length - failed.length} of ${outcomes.length}`
    const reasons = Object.entries(known).map(([method, reason]) => `\`${method}\` ${reason}`)
    const row = `| Python, \`permit\` ${version} | ${works} | ${reasons.join('; ')} |`
    const document = readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8')
    expect(document.replaceAll(/ +/g, ' '), 'the row of this client').toContain(row.replaceAll(/ +/g, ' '))
  })
})
