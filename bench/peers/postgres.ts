/**
 * A PostgreSQL server from the packages of the Linux distribution, with its default settings. It runs in a
 * separate process on the loopback interface. Its data is in a temporary directory.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CORES, freePort } from './peer-server.ts'

/** Directory in which Debian and its derivatives install PostgreSQL. It has one subdirectory per release. */
const RELEASES = '/usr/lib/postgresql'
const SUPERUSER = 'postgres'

/**
 * User under which the server runs if this process runs as root, because PostgreSQL refuses to run as root.
 */
interface Owner {
  readonly uid?: number
  readonly gid?: number
}

export class PostgresServer {
  /** Title for a table: `PostgreSQL 15`. */
  readonly title: string
  readonly #release: string
  readonly #owner: Owner
  readonly #directory: string
  readonly #port: number
  #child: ChildProcess | null = null
  readonly #killAtExit = () => this.#child?.kill('SIGKILL')

  /** Starts the server. If it is not available, prints the reason and returns null. */
  static async start(): Promise<PostgresServer | null> {
    try {
      const server = new PostgresServer(newestRelease(), owner(), await freePort())
      await server.#start()
      return server
    } catch (error) {
      const [line] = (error as Error).message.trim().split('\n')
      process.stdout.write(`  peers with PostgreSQL are left out: ${line}\n`)
      return null
    }
  }

  private constructor(release: string, who: Owner, port: number) {
    this.title = `PostgreSQL ${release}`
    this.#release = release
    this.#owner = who
    this.#port = port
    this.#directory = mkdtempSync(join(tmpdir(), 'verdict-postgres-'))
    process.once('exit', this.#killAtExit)
  }

  /** Creates a database and returns its URL. */
  database(name: string): string {
    this.#run('createdb', '--host=127.0.0.1', `--port=${this.#port}`, `--username=${SUPERUSER}`, name)
    return `postgres://${SUPERUSER}@127.0.0.1:${this.#port}/${name}?sslmode=disable`
  }

  /** Stops the server and removes its data. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      // With SIGINT, PostgreSQL shuts down without waiting for connected clients.
      child.kill('SIGINT')
      await ended
    }
    process.off('exit', this.#killAtExit)
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    try {
      const { uid, gid } = this.#owner
      if (uid !== undefined && gid !== undefined) chownSync(this.#directory, uid, gid)
      const data = join(this.#directory, 'data')
      this.#run('initdb', '--auth=trust', `--username=${SUPERUSER}`, '--encoding=UTF8', data)
      const place = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${this.#directory}`]
      const command = [programOf(this.#release, 'postgres'), '-D', data, '-p', String(this.#port), ...place]
      const child = spawn('taskset', ['-c', CORES, ...command], {
        ...this.#options(),
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      this.#child = child
      await saysReady(child)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  #run(program: string, ...args: readonly string[]): void {
    execFileSync(programOf(this.#release, program), args, { ...this.#options(), stdio: 'pipe' })
  }

  /** Sets a working directory, because the other user might not have access to that of this process. */
  #options() {
    return { ...this.#owner, cwd: this.#directory }
  }
}

function programOf(release: string, name: string): string {
  return join(RELEASES, release, 'bin', name)
}

/** Throws if no release is installed. */
function newestRelease(): string {
  const releases = existsSync(RELEASES) ? readdirSync(RELEASES) : []
  const [newest] = releases
    .filter(release => existsSync(programOf(release, 'postgres')))
    .toSorted((a, b) => Number(b) - Number(a))
  if (newest === undefined) throw new Error(`there is none below ${RELEASES} (a Debian package: postgresql)`)
  return newest
}

/** Throws if this process is root and the user of the package does not exist. */
function owner(): Owner {
  if (process.getuid!() !== 0) return {}
  const id = (what: string) =>
    Number(execFileSync('id', [what, SUPERUSER], { encoding: 'utf8', stdio: 'pipe' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * Resolves when the server accepts connections. Throws if the server ends before that. The output of the
 * server is read until the server ends.
 */
async function saysReady(child: ChildProcess): Promise<void> {
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 10_000) said += text
      if (said.includes('ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`it ended: ${said.trim().split('\n').at(-1)}`)))
  })
}
