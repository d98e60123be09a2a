/** Processes of the service for the current test, and their clients. */
import { onTestFinished } from 'vitest'
import { ADMIN_KEY, API_KEY, Client, storeDirectory } from '#testing/processes/running-service.ts'
import { type ProcessOptions, ServiceProcess } from '#testing/processes/service-process.ts'

type Env = Readonly<Record<string, string>>

/** Both keys of the tests, and one HTTP thread. */
export const PROCESS_SETTINGS = { API_KEY, ADMIN_API_KEY: ADMIN_KEY, HTTP_THREADS: '1' } as const

/** Starts a process with `PROCESS_SETTINGS` and additional settings. It is killed after the test. */
export function startedProcess(
  env: Env = {},
  options: Partial<Pick<ProcessOptions, 'cwd' | 'command'>> = {},
): ServiceProcess {
  return processWith({ ...PROCESS_SETTINGS, ...env }, options)
}

/** Starts a process with only these settings. */
export function processWith(
  env: Env,
  { cwd = storeDirectory(), command }: Partial<Pick<ProcessOptions, 'cwd' | 'command'>> = {},
): ServiceProcess {
  const service = new ServiceProcess({ cwd, env, ...(command && { command }) })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  return service
}

/** A client of a process with `API_KEY`. Resolves when the process listens. */
export async function clientOf(service: ServiceProcess): Promise<Client> {
  return Client.at(await service.address())
}

/** Settings that make each thread of a process run this script before the service. */
export function running(script: string): { readonly NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}

/** The URL of a module of `src`, for a script. */
export function source(path: string): string {
  return new URL(`../../../src/${path}`, import.meta.url).href
}
