/**
 * Before all tests: makes sure there is a Redis to start. Where none is on the PATH and the system is a Debian with root's
 * rights, the distribution's package is installed. Elsewhere the tests that need one fail and say what is missing.
 */
import { execFileSync } from 'node:child_process'
import { redisOnPath } from '#testing/processes/redis-process.ts'

export default function setup(): void {
  if (process.env['TEST_REDIS_URL'] !== undefined || redisOnPath() !== null) return
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  try {
    execFileSync('apt-get', ['update', '-qq'], options)
    // Without a service of its own on the usual port.
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'], options)
  } catch {
    process.stderr.write('no redis-server on the PATH, and apt-get could not install one\n')
  }
}
