/**
 * An environment without threads and sockets, whose engine decides in the thread of the test. For tests with
 * thousands of operations, or with access to the stored state.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import type { DecisionEngine } from '#engine/engine.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { SOMEBODY } from '#model/caller.ts'
import type { Change } from '#model/change.ts'
import { type Query, DEFAULT_TENANT } from '#model/decision.ts'
import { ConflictError } from '#model/errors.ts'
import type { Delegation } from '#model/principal.ts'
import type { RecordKind } from '#entities/records.ts'
import { runAtOnce, isResumable } from '#scheduling/resumable.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { Draft } from '#management/drafts/draft.ts'
import type { OperationAnswer, OperationInput, OperationName } from '#management/environment/operations.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { SCHEMA_CEILINGS, type SchemaCeilings } from '#management/schema/schema-ceilings.ts'
import { SIZE_CEILINGS, type SizeCeilings } from '#management/schema/schema-size.ts'
import { loadChanges } from '#replica/load-changes.ts'
import { Replica } from '#replica/replica.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { runtimeServicesWith } from './runtime-services.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import { scope } from './environment-service.ts'
import { sharedIndexes } from './shared-indexes.ts'
import { Oracle } from '#testing/oracle/oracle.ts'

/** The effect of an operation on records, without retries. */
type Command = (context: WriteContext) => unknown

export class RunningEnvironment {
  readonly faults: unknown[] = []
  readonly #url: string
  readonly #store: Store
  readonly #environment: EnvironmentStore
  readonly #service: EnvironmentService
  readonly #replica: Replica
  #engine = new SharedEngine()
  #isClosed = false

  /** Opens the store, loads the engine, and resumes the background work of an earlier run. */
  static async open(
    url = 'memory:',
    ceilings?: SchemaCeilings,
    sizeCeilings?: SizeCeilings,
  ): Promise<RunningEnvironment> {
    const store = await openStore(url, listRule)
    const environment = new RunningEnvironment(
      url,
      store,
      await store.environment(scope.environmentId),
      ceilings,
      sizeCeilings,
    )
    onTestFinished(() => environment.close())
    await environment.#start()
    return environment
  }

  private constructor(
    url: string,
    store: Store,
    environment: EnvironmentStore,
    ceilings: SchemaCeilings = SCHEMA_CEILINGS,
    sizeCeilings = SIZE_CEILINGS,
  ) {
    this.#url = url
    this.#store = store
    this.#environment = environment
    this.#replica = new Replica(scope.environmentId, environment, {
      load: async (_id, changes) => {
        this.#engine = SharedEngine.with(changes)
      },
      publish: async () => {},
      apply: async (_id, changes) => this.#engine.apply(changes),
    })
    this.#service = new EnvironmentService({
      store: environment,
      scope,
      runtime: runtimeServicesWith({ onBackgroundFault: error => this.faults.push(error) }),
      whenVisible: revision => this.#replica.whenVisible(revision),
      ceilings,
      sizeCeilings,
    })
  }

  async #start(): Promise<void> {
    await this.#replica.start(error => this.faults.push(error))
    if (this.#environment.view.sequence() === 0) {
      await this.execute('createTenant', { body: { key: DEFAULT_TENANT, name: 'Default' } })
    } else this.#service.removeEndedBefore()
    this.#service.resumePurges()
  }

  freeze(): Promise<() => void> {
    return this.#service.freeze()
  }

  async execute<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
    delegations: readonly Delegation[] | null = null,
  ): Promise<OperationAnswer<Name>> {
    return (await this.#service.execute(name, input, null, SOMEBODY, null, delegations)).answer
  }

  /** Creates a resource with these actions, and with roles that have these permissions. */
  resource(
    key: string,
    actions: readonly string[],
    roles: Readonly<Record<string, readonly string[]>> = {},
    relations: Readonly<Record<string, string>> = {},
  ) {
    const blocks = Object.entries(roles).map(([role, permissions]) => [role, { name: role, permissions }])
    const parts = { actions: Object.fromEntries(actions.map(action => [action, {}])), relations }
    return this.execute('createResource', {
      body: { key, name: key, ...parts, roles: Object.fromEntries(blocks) },
    })
  }

  tenantRole(key: string, ...permissions: readonly string[]) {
    return this.execute('createTenantRole', { body: { key, name: key, permissions: [...permissions] } })
  }

  users(...keys: readonly string[]) {
    return this.execute('createUsers', { body: { operations: keys.map(key => ({ key })) } })
  }

  group(key: string, tenant = DEFAULT_TENANT) {
    return this.execute('createGroup', { body: { group_instance_key: key, group_tenant: tenant } })
  }

  /** Makes the user a member of the group. */
  join(group: string, user: string, tenant = DEFAULT_TENANT) {
    const params = { group_instance_key: group, user_id: user }
    return this.execute('addGroupMember', { params, body: { tenant } })
  }

  /** Grants the group a role on an instance, which is named as `type:key`. */
  grant(group: string, role: string, instance: string, tenant = DEFAULT_TENANT) {
    const [resource, resource_instance] = instance.split(':') as [string, string]
    const body = { role, resource, resource_instance, tenant }
    return this.execute('addGroupRole', { params: { group_instance_key: group }, body })
  }

  /**
   * Drafts all commands on the current state, and then commits the drafts in order, like callers that all
   * read before one of them writes. Returns for each command whether it was committed. Retries no command.
   */
  async onOneState(...commands: readonly Command[]): Promise<boolean[]> {
    const attempts = commands.map(command => {
      const { work, commit } = this.attempt(command)
      if (isResumable(work)) runAtOnce(work)
      return commit
    })
    const outcomes: boolean[] = []
    for (const commit of attempts) outcomes.push(await commit())
    return outcomes
  }

  /** One attempt at a command. Other attempts can run in between. `commit` returns false after a conflict. */
  attempt<Work>(command: (context: WriteContext) => Work) {
    const { view, ledger } = this.#environment
    const records = new Draft(view)
    const work = command({ scope, now: Date.now(), newId: randomUUID, records })
    const commit = async (): Promise<boolean> => {
      try {
        await this.#replica.whenVisible(await ledger.commit(records.toCommit(randomBytes(16))))
        return true
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
        return false
      }
    }
    return { work, commit }
  }

  /** Applies changes to the engine only, without an operation. */
  apply(changes: Iterable<Change>): void {
    this.#engine.apply(changes)
  }

  decide(query: Query): boolean {
    return this.#engine.evaluate(query)
  }

  /** A new engine with only the stored state. */
  freshEngine(): SharedEngine {
    return SharedEngine.with(loadChanges(this.#environment.view))
  }

  /** A new engine, loaded like that of a starting service, while other callers keep writing. */
  async startedEngine(): Promise<DecisionEngine> {
    const { indexes, readers } = sharedIndexes({ onFault: (_id, error) => this.faults.push(error) })
    const { environmentId } = scope
    await new Replica(environmentId, this.#environment, indexes).start(error => this.faults.push(error))
    return readers.engine(environmentId)!
  }

  /** The reference implementation with the stored state. */
  oracle(): Oracle {
    const oracle = new Oracle()
    oracle.apply(loadChanges(this.#environment.view))
    return oracle
  }

  /** Number of stored assignments, tuples and rules that refer to deleted entities. */
  orphanCount(): number {
    const found = [...loadChanges(this.#environment.view)].map(({ kind }) => kind)
    const ofFacts: readonly string[] = ['assignment-put', 'tuple-put', 'rule-put']
    const known = found.filter(kind => ofFacts.includes(kind)).length
    return this.count('assignment') + this.count('tuple') + this.count('rule') - known
  }

  /** Number of facts of this kind that an engine would load. */
  standingCount(kind: Change['kind']): number {
    return [...loadChanges(this.#environment.view)].filter(change => change.kind === kind).length
  }

  reader(): RecordReader {
    return new RecordReader(this.#environment.view)
  }

  count(kind: RecordKind): number {
    return this.#environment.view.count(lists.all(kind))
  }

  /** The ids of all records of this kind, in creation order. */
  idsOf(kind: RecordKind): string[] {
    return Array.from(this.reader().list(kind, lists.all(kind)), ({ id }) => id)
  }

  /** Waits until all purges are complete. */
  async purged(): Promise<void> {
    await this.until(() => this.count('purge') === 0)
  }

  /** Runs the event loop until the condition holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise(resolve => setImmediate(resolve))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#service.close()
    await this.#store.close()
    expect(this.faults).toEqual([])
  }

  /** Closes the environment and opens it again from the same store. */
  async reopen(): Promise<RunningEnvironment> {
    await this.close()
    return RunningEnvironment.open(this.#url)
  }
}

export type Call = (environment: RunningEnvironment) => Promise<unknown>

/** An operation with its input, to be executed later. */
export function call<Name extends OperationName>(name: Name, input: OperationInput<Name>): Call {
  return environment => environment.execute(name, input)
}
