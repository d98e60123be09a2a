/** Installs the packages of the products that the benches compare with. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** These packages are installed only when a bench needs them, because the service does not need them. */
export function installPackages(): void {
  const directory = fileURLToPath(new URL('.', import.meta.url))
  if (existsSync(`${directory}node_modules`)) return
  execFileSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'inherit',
  })
}
