/**
 * Audits the production dependencies. Fails if an advisory of high or critical severity exists for one of
 * them. If the registry is not reachable or has no advisories, the audit reports this and succeeds.
 * Dependencies of tests and benches are not audited, because they are not installed with the product.
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
