/** A copy of this checkout without builds and stored data. */
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sharedDirectory } from './temporary-directories.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const LEFT_OUT = /^(node_modules|dist[^/]*|data|\.git|\.artifacts|console\/node_modules)(\/|$)/

/** Returns the path of a copy for the tests of a file. A fresh copy has no installed packages. */
export function checkoutCopy({ isFresh = false } = {}): string {
  const folder = sharedDirectory()
  const isTaken = (path: string): boolean => !LEFT_OUT.test(path.slice(ROOT.length))
  cpSync(ROOT, folder, { recursive: true, filter: isTaken })
  if (!isFresh) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
