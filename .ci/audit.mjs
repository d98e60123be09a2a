/**
 * The audit of what the product depends on: fails when an advisory of high or critical severity is known for a package that
 * is installed with it. A registry that cannot be reached, or has no advisories, is no reason to stop: it is said, and the
 * next run looks again. What only tests and benches need does not run where the product does, and is left out.
 */
import { spawnSync } from 'node:child_process'

const FAILING = ['high', 'critical']
const MS_MAX = 90_000

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0'], {
  encoding: 'utf8',
  timeout: MS_MAX,
  stdio: ['ignore', 'pipe', 'ignore'],
})

function reportIn(text) {
  try {
    const report = JSON.parse(text)
    return report.metadata?.vulnerabilities ? report : null
  } catch {
    return null
  }
}

const report = reportIn(stdout ?? '')
if (report === null) {
  process.stdout.write('dependency audit: NOT DONE, the registry gave no report\n')
} else {
  const found = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) =>
    FAILING.includes(severity),
  )
  for (const { name, severity, range } of found) process.stdout.write(`${severity}: ${name} ${range}\n`)
  process.stdout.write(`dependency audit: ${found.length} of high or critical severity\n`)
  process.exitCode = found.length > 0 ? 1 : 0
}
