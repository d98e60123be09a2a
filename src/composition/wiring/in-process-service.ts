/**
 * Runs one environment of the service in one thread, without sockets: routes, management and engine over a
 * store in memory. It handles requests as a server does; only the wire is missing.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { withoutSecrets } from '#config/settings.ts'
import { readConfig } from '#config/read-config.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { type Answer, encodeReply } from '#http/message/answer.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { HeaderList } from '#http/message/header-list.ts'
import type { ManagementGateway } from '#http/routes/management/managed.ts'
import { Dispatcher } from '#http/routing/dispatch.ts'
import { familyOfPath } from '#http/routing/path.ts'
import { problemAnswer } from '#http/routing/problem.ts'
import { SOMEBODY } from '#model/caller.ts'
import { unmarked } from '#management/operations/answer-marks.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { AuthzError, isUnreportedFault } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { formatRevision } from '#model/revision.ts'
import { Replica } from '#replica/replica.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { threadRoutes } from './thread-routes.ts'
import { commitIds } from '#composition/process/commit-ids.ts'
import { TimeOrderedIds } from '#composition/process/time-ordered-ids.ts'

/** Ids of the writer and the reader in the lock word of an index. */
const [WRITER_ID, READER_ID] = [1, 2]
const KEY = 'default'
/** Placeholder for a client: an in-process caller never disconnects, and its bytes are not counted. */
const NOBODY = {
  isGone: false,
  bodyBytes: 0,
  whenOver: () => {},
  identifyAgain: () => null,
  requestId: '',
  traceparent: null,
}
const HEADERS = new HeaderList()
HEADERS.add('authorization', `Bearer ${KEY}`)
HEADERS.add('content-type', 'application/json')

export class InProcessService {
  readonly #dispatcher: Dispatcher
  readonly #onFault: (error: unknown) => void
  /**
   * Removes expired grants from the index. The timer for that also runs on this thread, which might have been
   * too busy to run it.
   */
  readonly #expireDue: () => void
  readonly #close: () => Promise<void>

  /**
   * Opens an environment that contains only the default tenant. `onFault` receives defects of the service.
   * `variables` are its settings.
   */
  static async open(
    onFault: (error: unknown) => void,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<InProcessService> {
    const settings = withoutSecrets(readConfig(variables))
    const scope = {
      organizationId: randomUUID(),
      projectId: randomUUID(),
      environmentId: randomUUID(),
      createdAt: Date.now(),
    }
    const store = await openStore('memory:', listRule)
    const environment = await store.environment(scope.environmentId)
    const readers = new EngineReaders(
      handle => new SharedIndexReader(handle, { threadId: READER_ID, lockEveryRead: false }),
    )
    const secrets = { start: randomInt(2 ** 31), multiplier: randomInt(2 ** 31) | 1 }
    const indexes = new SharedIndexes({
      createWriter: () => new SharedIndexWriter({ threadId: WRITER_ID, secrets }),
      attach: async (id, handle) => readers.attach(id, handle),
      detach: async (id, reason) => readers.detach(id, reason),
      onFault: (_id, error) => onFault(error),
      kept: null,
      warmUpWriter: null,
    })
    const replica = new Replica(scope.environmentId, environment, indexes)
    const ids = new TimeOrderedIds(Date.now)
    const service = new EnvironmentService({
      store: environment,
      scope,
      runtime: {
        now: Date.now,
        elapsedMs: () => performance.now(),
        newId: () => ids.next(),
        newCommitId: commitIds(),
        newSecret: () => randomBytes(32).toString('hex'),
        seal: () => null,
        attributesBytesMax: settings.attributesBytesMax,
        onCommit: () => {},
        onBackgroundFault: onFault,
      },
      whenVisible: revision => replica.whenVisible(revision),
      reserveCapacity: changes => indexes.reserveCapacity(scope.environmentId, changes),
    })
    indexes.whenExpired(scope.environmentId, (removals, sequence) =>
      service.removeExpired(removals, sequence),
    )
    await replica.start(onFault)
    await service.execute('createTenant', { body: { key: DEFAULT_TENANT, name: 'Default tenant' } })
    const names = { projectKey: KEY, environmentKey: KEY, keyId: null, level: 'admin' } as const
    const principal: Principal = { kind: 'environment', ...scope, ...names }
    const routes = threadRoutes({
      engines: readers,
      management: gatewayTo(service),
      health: { isReady: () => true, isFresh: () => true, writeRefusal: () => null },
      node: { ask: () => Promise.resolve('') },
      authenticate: () => principal,
      sessions: null,
      observer: null,
      pool: null,
      tokenSecret: randomBytes(32).toString('hex'),
      settings,
      sliced: new ThreadScheduler(new TimeBudget('http')),
    })
    const dispatcher = new Dispatcher(routes, () => principal, {
      hasStrictHeaders: false,
      minRevision: null,
      takeRate: null,
      largeBodies: null,
      sessions: null,
    })
    const expireDue = (): void => indexes.expireDue(scope.environmentId)
    return new InProcessService({ dispatcher, onFault, expireDue }, async () => {
      await service.close()
      await store.close()
    })
  }

  private constructor(
    parts: {
      readonly dispatcher: Dispatcher
      readonly onFault: (error: unknown) => void
      readonly expireDue: () => void
    },
    close: () => Promise<void>,
  ) {
    this.#dispatcher = parts.dispatcher
    this.#onFault = parts.onFault
    this.#expireDue = parts.expireDue
    this.#close = close
  }

  /** Handles a request as a server does. Every caller has the permissions of the environment's key. */
  async answer(method: string, target: string, body: string): Promise<Answer> {
    const [path = '', query = ''] = target.split('?', 2)
    const head = { method, path, query, headers: HEADERS }
    try {
      this.#expireDue()
      const match = this.#dispatcher.find(head)
      const principal = this.#dispatcher.admit(match, head)
      return encodeReply(
        await this.#dispatcher.answer(match, { principal, caller: NOBODY }, head, viewOf(Buffer.from(body))),
      )
    } catch (error) {
      if (isUnreportedFault(error)) this.#onFault(error)
      return problemAnswer(error, familyOfPath(path))
    }
  }

  close(): Promise<void> {
    return this.#close()
  }
}

const NO_BODY = { json: null, isCreated: false, warning: null }

/** Management of this one environment. There is no organization. */
function gatewayTo(service: EnvironmentService): ManagementGateway {
  return {
    execute: async request => {
      if (request.about === 'content' && request.operation !== 'importContent') {
        const { answer, revision } = await service[request.operation]()
        return { ...NO_BODY, revision: formatRevision(revision), pieces: answer }
      }
      if (request.about !== 'environment' || request.path === null) {
        throw new AuthzError('FORBIDDEN', 'this process has no organization, only one environment')
      }
      const { answer, revision } = await service.execute(
        request.operation,
        request.input,
        null,
        SOMEBODY,
        request.condition,
      )
      const { body, ...marks } = unmarked(answer)
      return {
        json: body === undefined ? null : JSON.stringify(body),
        ...marks,
        revision: formatRevision(revision),
      }
    },
  }
}
