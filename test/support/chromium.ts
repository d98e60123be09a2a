/**
 * Headless Chromium from the PATH. If it is missing, the package of Debian is installed if possible.
 * Otherwise, tests fail.
 */
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { HANG_MS } from './hang.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** Starts a browser. Throws if Chromium is not installed and cannot be installed. */
export function startChromium(): Promise<Browser> {
  const executablePath = chromiumOnPath() ?? installedChromium()
  // Chromium has no sandbox as root. It opens only pages of the tests.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({ executablePath, timeout: HANG_MS, args: isRoot ? ['--no-sandbox'] : [] })
}

/** Opens a page. Its waits time out before the test does, so that the error names the missing element. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(HANG_MS / 2)
  const evaluate = page.evaluate.bind(page)
  page.evaluate = ((expression: unknown, ...rest: []) =>
    inTime(evaluate(expression as string, ...rest), String(expression))) as typeof page.evaluate
  return page
}

/** Rejects if the page does not answer an expression in time. Playwright itself would wait forever. */
async function inTime<T>(answer: Promise<T>, expression: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`the page did not answer in time: ${expression.slice(0, 200)}`)),
    HANG_MS / 2,
  )
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
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
