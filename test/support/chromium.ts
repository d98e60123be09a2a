/**
 * The browser of the tests: a headless Chromium from the PATH. Where there is none and the system is a Debian with root's
 * rights, the distribution's package is installed. Elsewhere the tests that need one fail and say what is missing.
 */
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { HANG_MS } from './hang.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** Starts a browser. Throws when there is none and none can be installed. */
export function startChromium(): Promise<Browser> {
  const executablePath = chromiumOnPath() ?? installedChromium()
  // Root's browser has no sandbox, and all it is shown is ours.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({ executablePath, timeout: HANG_MS, args: isRoot ? ['--no-sandbox'] : [] })
}

/** A page that waits as long as the tests do. It gives up sooner than its test is ended, and so says what it waited for. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(HANG_MS / 2)
  return page
}

function chromiumOnPath(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const candidates = NAMES.flatMap(name => folders.map(folder => join(folder, name)))
  return candidates.find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function installedChromium(): string {
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  try {
    execFileSync('apt-get', ['update', '-qq'], options)
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], options)
  } catch {
    throw new Error(
      'no chromium on the PATH, and apt-get could not install it: install Chromium and try again',
    )
  }
  const path = chromiumOnPath()
  if (path === null) throw new Error('the package chromium was installed and put no chromium on the PATH')
  return path
}
