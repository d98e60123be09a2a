/** Starts the HTTP threads with their options and the port that they share. */
import { closeSync, openSync } from 'node:fs'
import { type Config, withoutSecrets } from '#config/settings.ts'
import { reservePort } from '#http/edge/reserve-port.ts'
import { AuthzError } from '#model/errors.ts'
import type { HttpThreads } from '#threads/channel/http-threads.ts'
import { createKeyRates } from '#threads/channel/key-rates.ts'
import type { SharedCountsHandle } from '#threads/channel/shared-count.ts'
import type { StalenessDeadlines } from '#threads/indexes/staleness-deadlines.ts'
import type { OpenOrganization } from './open-organization.ts'

/**
 * Resolves when the threads have received the order to listen; `listening` resolves with the port. Throws if
 * a port is in use.
 */
export async function beginHttp(
  threads: HttpThreads,
  config: Config,
  parts: {
    readonly open: OpenOrganization
    readonly counts: SharedCountsHandle
    readonly deadlines: StalenessDeadlines
  },
): Promise<{ readonly listening: Promise<number> }> {
  const { organization, credentialsFor, sessions } = parts.open
  if (config.opaPort !== null) await reservePort({ host: config.host, port: config.opaPort }, 'OPA_PORT')
  if (config.kongPort !== null) await reservePort({ host: config.host, port: config.kongPort }, 'KONG_PORT')
  const port = await portFor(config)
  const listening = threads.start({
    host: config.host,
    port,
    tokenSecret: organization.tokenSecret(),
    credentials: credentialsFor(organization.secrets()),
    counts: parts.counts,
    sessions: sessions && (await sessions.initial()),
    keyRates:
      config.requestsPerSecondMax === null ? null : createKeyRates({ hasSessions: sessions !== null }),
    deadline: parts.deadlines.node.handle,
    settings: withoutSecrets(config),
  })
  return { listening }
}

export function addressOf({ host }: Config, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * The port that the threads share. A single thread can find a free port itself; several threads need a given
 * port.
 */
function portFor({ host, port, httpThreads }: Config): Promise<number> | number {
  return port === 0 && httpThreads === 1 ? 0 : reservePort({ host, port })
}

/**
 * Checks that the decision log can be opened. Each thread opens it separately; an error is reported here,
 * before anything starts.
 */
export function requireWritable({ decisionLog }: Config): void {
  if (decisionLog === null || decisionLog === 'stdout') return
  try {
    closeSync(openSync(decisionLog, 'a', 0o600))
  } catch (error) {
    throw new AuthzError('INVALID_INPUT', `setting DECISION_LOG: ${(error as Error).message}`)
  }
}
