/** Installs Redis before all tests if it is missing and the user is root on a Debian system. */
import { execFileSync } from 'node:child_process'
import { redisOnPath } from '#testing/processes/redis-process.ts'

export default function setup(): void {
  if (process.env['TEST_REDIS_URL'] !== undefined || redisOnPath() !== null) return
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  try {
    execFileSync('apt-get', ['update', '-qq'], options)
    // Recommended packages would start a server on the default port.
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'], options)
  } catch {
    process.stderr.write('no redis-server on the PATH, and apt-get could not install one\n')
  }
}
