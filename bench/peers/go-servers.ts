/**
 * Builds servers written in Go from their modules. This requires `go` on the PATH. Each version is built only
 * once.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CORES } from './peer-server.ts'

export interface GoServer {
  readonly name: string
  readonly module: string
  readonly version: string
  /** Name of the command. Its package is the folder of this name in `cmd/` of the module. */
  readonly command: string
}

export const OPENFGA: GoServer = {
  name: 'OpenFGA',
  module: 'github.com/openfga/openfga',
  version: 'v1.22.1',
  command: 'openfga',
}
export const SPICEDB: GoServer = {
  name: 'SpiceDB',
  module: 'github.com/authzed/spicedb',
  version: 'v1.56.2',
  command: 'spicedb',
}

const BINARIES = fileURLToPath(new URL('bin', import.meta.url))

export function binaryOf({ command, version }: GoServer): string {
  return join(BINARIES, version, command)
}

/** Name and version for the table. */
export function titleOf({ name, version }: GoServer): string {
  return `${name} ${version.slice(1, version.lastIndexOf('.'))}`
}

/**
 * Builds the server. If this is not possible, prints the reason and returns false. The first build takes
 * minutes.
 */
export function install(server: GoServer): boolean {
  const binary = binaryOf(server)
  if (existsSync(binary)) return true
  const directory = mkdtempSync(join(tmpdir(), 'verdict-peer-'))
  // Builds the command in a temporary module that requires the server. `go install …@version` is not used,
  // because it requests the list of versions, which not every proxy provides. `taskset` lets the compiler use
  // all cores, although this process uses only one.
  const go = (...args: string[]) =>
    execFileSync('taskset', ['-c', CORES, 'go', ...args], {
      cwd: directory,
      env: { ...process.env, GOBIN: join(binary, '..') },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  try {
    go('mod', 'init', 'peer')
    go('mod', 'edit', `-require=${server.module}@${server.version}`)
    process.stdout.write(`  compiling ${titleOf(server)}, which takes minutes\n`)
    go('install', '-mod=mod', `${server.module}/cmd/${server.command}`)
    return true
  } catch (error) {
    const lines = String((error as { stderr?: string }).stderr ?? error)
      .trim()
      .split('\n')
    process.stdout.write(`  ${titleOf(server)} is left out: ${lines.at(-1)!.trim()}\n`)
    return false
  } finally {
    rmSync(directory, { recursive: true })
  }
}
