/**
 * Management of one environment: runs operations against its view and commits their writes. An operation
 * whose data changed concurrently runs again. A response is sent after the change is visible to every
 * decision of this process.
 *
 * A violated invariant, for example in a row of the wrong kind, affects only this environment: its operations
 * share no state with other environments and make changes only by complete commits. Therefore, it ends the
 * operation and not the process.
 */
import { SOMEBODY, type WaitingClient } from '#model/caller.ts'
import { audited, type AuditCaller, type AuditedCall } from '#management/audit/audit.ts'
import { type Answered, DraftCommits } from '#management/drafts/commit-draft.ts'
import type { EnvironmentScope, WriteContext, GrantCondition } from '#management/drafts/context.ts'
import { type ReadQueue, ReadQueues } from '#scheduling/admission.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { removedBy } from '#management/drafts/removal.ts'
import { type Asker, drive, type TimeShare, unsharedTime } from '#scheduling/thread-scheduler.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { AccessEventSource } from '#management/changes/access-event-source.ts'
import { CatchUps } from '#management/changes/catch-ups.ts'
import { CommitEventSource } from '#management/changes/commit-event-source.ts'
import { EnvironmentChanges } from '#management/changes/environment-changes.ts'
import { expireFacts, expireListed } from '#management/facts/expiry.ts'
import { AuditRetention } from '#management/audit/audit-retention.ts'
import { AuditTransfer } from '#management/audit/audit-transfer.ts'
import { exportedLines } from '#management/content/content-export.ts'
import { modelLines } from '#management/content/model-text.ts'
import { ContentStream, type PieceSource } from '#management/content/content-stream.ts'
import {
  mayLeaveRelationsUnused,
  removeRetiredRelation,
  retireRelation,
  unusedGroupRelations,
} from '#management/groups/group-relations.ts'
import {
  checkSchemaCeilings,
  lookedAt,
  SCHEMA_CEILINGS,
  type SchemaCeilings,
} from '#management/schema/schema-ceilings.ts'
import { heldToSize, type SizeCeilings } from '#management/schema/schema-size.ts'
import { InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import type { Delegation } from '#model/principal.ts'
import type { Revision } from '#model/revision.ts'
import { type AccessEngine, AccessIndex } from '#replica/access-index.ts'
import type { EnvironmentStore } from '#store/store.ts'
import type { View } from '#store/view.ts'
import {
  type OperationAnswer,
  type OperationInput,
  type OperationName,
  type ReadOperation,
  type ReadOperationName,
  readOperations,
  type WriteOperation,
  writeOperations,
} from './operations.ts'
import { limitedTo, tenantsOf } from '#management/delegation/delegated-command.ts'
import { conditional, type Precondition } from '#management/conditional/conditional-change.ts'
import { ExpiryRemoval } from './expiry-removal.ts'
import { Purging, RemovalsPendingError, type CapacityTicket } from './purging.ts'

export class EnvironmentService {
  /** Stream of changes to entities. */
  readonly changes: EnvironmentChanges
  /** Stream of effective access changes. */
  readonly accessChanges: EnvironmentChanges
  readonly #store: EnvironmentStore
  readonly #scope: EnvironmentScope
  readonly #runtime: RuntimeServices
  readonly #commits: DraftCommits
  /** Resolves when every decision of this process uses the revision. */
  readonly #whenVisible: (revision: Revision) => Promise<void>
  readonly #timeShare: TimeShare
  readonly #longReads: ReadQueue
  readonly #purging: Purging
  readonly #expiryRemoval: ExpiryRemoval
  readonly #underWay = new Set<Promise<unknown>>()
  /** Number of active `freeze` calls. */
  #freezes = 0
  readonly #retention: AuditRetention
  readonly #ceilings: SchemaCeilings
  readonly #reserveCapacity: (changes: readonly Change[]) => () => void
  readonly #sizeCeilings: SizeCeilings | undefined

  constructor(options: {
    readonly store: EnvironmentStore
    readonly scope: EnvironmentScope
    readonly runtime: RuntimeServices
    readonly whenVisible: (revision: Revision) => Promise<void>
    /** Its share of the thread; absent: it does not share the thread. */
    readonly timeShare?: TimeShare
    /** Its queue for long reads; absent: a separate queue. */
    readonly longReads?: ReadQueue
    /** Shared by all environments, for change-stream readers that catch up; absent: a separate one. */
    readonly catchUps?: CatchUps
    /** How long entries of the audit log are kept; absent or 0: forever. */
    readonly auditRetentionMs?: number
    /** Makes an empty engine for effective access changes; absent: they are not available. */
    readonly newAccessEngine?: () => AccessEngine
    /** Delay between the expiration of a grant and its deletion; absent: none. */
    readonly expiredHoldMs?: number
    /** Reserves index capacity for a commit, or throws `LIMIT_EXCEEDED`; absent: unlimited (`IndexHost`). */
    readonly reserveCapacity?: (changes: readonly Change[]) => () => void
    /** Maximum number of removed entities that wait for their purge; for tests. */
    readonly pendingMax?: number
    /** Maximum number of parts in the schema; for tests. */
    readonly ceilings?: SchemaCeilings
    /** Maximum size of the schema; for tests. */
    readonly sizeCeilings?: SizeCeilings
  }) {
    this.#store = options.store
    this.#scope = options.scope
    this.#runtime = options.runtime
    this.#commits = new DraftCommits(options.store, options.runtime)
    this.#whenVisible = options.whenVisible
    this.#timeShare = options.timeShare ?? unsharedTime()
    const { store, scope } = options
    const accessIndex = new AccessIndex(store, options.newAccessEngine ?? noAccessEngine)
    const shared = {
      store,
      environmentId: scope.environmentId,
      timeShare: this.#timeShare,
      catchUps: options.catchUps ?? new CatchUps(),
    }
    this.changes = new EnvironmentChanges({ ...shared, source: new CommitEventSource(store, scope) })
    this.accessChanges = new EnvironmentChanges({ ...shared, source: new AccessEventSource(accessIndex) })
    this.#longReads = options.longReads ?? new ReadQueues().queue()
    this.#retention = new AuditRetention(options.store, options.runtime, options.auditRetentionMs ?? 0)
    this.#ceilings = options.ceilings ?? SCHEMA_CEILINGS
    this.#reserveCapacity = options.reserveCapacity ?? (() => () => {})
    this.#sizeCeilings = options.sizeCeilings
    this.#purging = new Purging({
      ...options,
      whenLosersAreDone: () => this.#commits.whenLosersAreDone(),
      onDone: () => this.#removeUnusedRelations(),
    })
    const holdMs = options.expiredHoldMs ?? 0
    this.#expiryRemoval = new ExpiryRemoval({
      holdMs,
      remove: expired => this.#write(context => expireFacts(context, expired)),
      removeListed: async from => (await this.#write(context => expireListed(context, from, holdMs))).answer,
      onFault: options.runtime.onBackgroundFault,
    })
  }

  /**
   * Runs an operation. Throws the operation's `AuthzError`s, and `REVISION_CONFLICT` after
   * `COMMIT_ATTEMPTS_MAX` conflicts with other writers. Changes are recorded in the audit log with the
   * caller, unless `caller` is null. If the client disconnects before the commit begins, the operation ends
   * with `OVERLOADED`. If the condition is not met, throws `PRECONDITION_FAILED` and changes nothing.
   * `delegations`: limits of the caller's grants; null if it has none.
   */
  async execute<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
    caller: AuditCaller | null = null,
    waiting: WaitingClient = SOMEBODY,
    condition: ChangeCondition | null = null,
    delegations: readonly Delegation[] | null = null,
  ): Promise<Answered<OperationAnswer<Name>>> {
    try {
      const call = caller && { input, operation: name, ...caller }
      const asker = { timeShare: this.#timeShare, waiting }
      const answered = condition
        ? await this.#writeIf(condition, name, input, call, asker, delegations)
        : await this.#run(name, input, call, asker, delegations)
      return answered as Answered<OperationAnswer<Name>>
    } catch (error) {
      // An error such as "it exists already" also states something about the current state, and the caller
      // may send a check that depends on it. Therefore, that state must be visible to decisions before the
      // error is sent.
      if (error instanceof AuthzError) await this.#inForce(this.#store.view.sequence())
      throw contained(error)
    }
  }

  /** Waits until a state that the view has shown is durable and visible to the engines. */
  async #inForce(sequence: number): Promise<Revision> {
    const revision = { ...(await this.#store.ledger.head()), sequence }
    await this.#whenVisible(revision)
    return revision
  }

  async #run(
    name: OperationName,
    input: unknown,
    call: AuditedCall | null,
    asker: Asker,
    delegations: readonly Delegation[] | null,
  ): Promise<Answered<unknown>> {
    const read = (readOperations as Record<string, ReadOperation>)[name]
    if (read) {
      const context = { ...this.#operationContext(), records: this.reader() }
      if (delegations !== null) context.records.limitTo(tenantsOf(delegations))
      const answer = await drive(() => read(context, input), asker, this.#longReads)
      // The sequence is read last: a long read may have seen commits that were made while it ran.
      return { answer, revision: await this.#inForce(this.#store.view.sequence()) }
    }
    const write = writeOperation(name)
    const command = limitedTo(delegations, (context: WriteContext) => write(context, input))
    return this.#write(audited(command, call, 'environment'), asker)
  }

  async #writeIf(
    condition: ChangeCondition,
    name: OperationName,
    input: unknown,
    call: AuditedCall | null,
    asker: Asker,
    delegations: readonly Delegation[] | null,
  ): Promise<Answered<unknown>> {
    const command = limitedTo(delegations, commandIf(condition, writeOperation(name), input))
    const run = () => this.#write(audited(command, call, 'environment'), asker)
    const { view } = this.#store
    const seen = view.sequence()
    return run().catch(async (error: unknown) => {
      if (!(error instanceof AuthzError) || error.code !== 'PRECONDITION_FAILED') throw error
      // The caller may have seen a newer state than this node, committed by another node.
      await this.#store.caughtUp()
      if (view.sequence() === seen) throw error
      return run()
    })
  }

  /** Commits the writes of the command, and starts the background work that follows from them. */
  async #write<Answer>(
    command: (context: WriteContext) => Answer | Resumable<Answer>,
    asker: Asker = { timeShare: this.#timeShare, waiting: SOMEBODY },
  ): Promise<Answered<Answer>> {
    let mayLeaveUnused = false
    const looked = lookedAt(command, function* ({ records }) {
      mayLeaveUnused = yield* mayLeaveRelationsUnused(records)
    })
    const answered = await this.#commit(looked, asker)
    this.resumePurges()
    if (!mayLeaveUnused) return answered
    const swept = await this.#removeUnusedRelations().catch((error: unknown) => {
      // The removal itself was committed. The next removal of this kind retries the cleanup.
      this.#runtime.onBackgroundFault(error)
      return null
    })
    return { ...answered, revision: swept ?? answered.revision }
  }

  /**
   * The content of the environment as lines, in its current state. Fails if the client stops reading for too
   * long. `onOver` is called once, when the lines are no longer read; it is not called if this throws.
   */
  exportContent(onOver = () => {}): Promise<Answered<PieceSource>> {
    return this.#export(exportedLines, onOver)
  }

  /** The model of the environment as a model file, with the same behavior. */
  exportModel(onOver = () => {}): Promise<Answered<PieceSource>> {
    return this.#export(modelLines, onOver)
  }

  async #export(
    linesOf: (view: View) => Iterable<string>,
    onOver: () => void,
  ): Promise<Answered<PieceSource>> {
    // An export reads lists, so they must be built.
    await this.#store.whenListed()
    const snapshot = this.#store.view.snapshot()
    try {
      const revision = await this.#inForce(snapshot.view.sequence())
      const release = (): void => {
        snapshot.release()
        onOver()
      }
      const lines = containedLines(linesOf(snapshot.view))
      const answer = new ContentStream(lines, release, { timeShare: this.#timeShare })
      return { answer, revision }
    } catch (error) {
      snapshot.release()
      throw contained(error)
    }
  }

  /** Deletes the rows of facts that the index has expired, in the background (`expiry-removal.ts`). */
  removeExpired(removals: readonly Change[], sequence: number): void {
    this.#expiryRemoval.add(removals, sequence)
  }

  /**
   * Like `removeExpired`, for facts that expired in an earlier run and were not deleted. Call it after the
   * lists are built.
   */
  removeEndedBefore(): void {
    this.#expiryRemoval.lookThroughLists()
  }

  /** Reads the current records of the environment. */
  reader(): RecordReader {
    return new RecordReader(this.#store.view)
  }

  /** Sequence of the newest commit. */
  get sequence(): number {
    return this.#store.view.sequence()
  }

  /**
   * Rejects changes with `NOT_READY`, and resolves when all running changes are done. Used before the
   * environment is replaced. Other nodes are not affected. Returns a function that accepts changes again,
   * unless another caller still holds them back; call it once.
   */
  async freeze(): Promise<() => void> {
    this.#freezes += 1
    await Promise.allSettled(this.#underWay)
    return () => {
      this.#freezes -= 1
    }
  }

  /** Starts purging the rows that earlier removals left, unless a purge is running. */
  resumePurges(): void {
    this.#purging.resume()
  }

  /**
   * Removes entries of the audit log that exceed the retention. Never throws, because failures affect no
   * request.
   */
  async trimAudit(): Promise<void> {
    await this.#retention.trim().catch(this.#runtime.onBackgroundFault)
  }

  /** Returns a transfer that copies the audit log of the environment that this one replaces. */
  auditTransferFrom(replaced: EnvironmentService): AuditTransfer {
    return new AuditTransfer(replaced.#store, this.#store, this.#runtime.newCommitId)
  }

  /**
   * Waits for the current background work and starts no further work; the rest is done after the next start.
   */
  async close(): Promise<void> {
    this.changes.close()
    this.accessChanges.close()
    await Promise.all([this.#expiryRemoval.close(), this.#purging.close()])
  }

  /** Removes unused group relations in two commits each (see `retireRelation`). Returns the last revision. */
  async #removeUnusedRelations(): Promise<Revision | null> {
    let revision: Revision | null = null
    const asker = { timeShare: this.#timeShare, waiting: SOMEBODY }
    const records = new RecordReader(this.#store.view)
    for (const relationId of await drive(() => unusedGroupRelations(records), asker)) {
      await this.#commit(context => retireRelation(context, relationId))
      revision = (await this.#commit(context => removeRetiredRelation(context, relationId))).revision
    }
    return revision
  }

  async #commit<Answer>(
    command: (context: WriteContext) => Answer | Resumable<Answer>,
    asker: Asker = { timeShare: this.#timeShare, waiting: SOMEBODY },
  ): Promise<Answered<Answer>> {
    if (this.#freezes > 0)
      throw new AuthzError('NOT_READY', 'this environment is being replaced; try again shortly')
    const sized = heldToSize(command, this.#sizeCeilings)
    const held: (() => void)[] = []
    const giveBack = (): void => {
      for (const each of held.splice(0)) each()
    }
    const ceilings = this.#ceilings
    let ticket: CapacityTicket | null = null
    const hold = ({ records }: WriteContext): void => {
      held.push(this.#purging.hold(removedBy(records), ticket))
      held.push(this.#reserveCapacity(records.changes))
    }
    const holding = lookedAt(sized, function* (context) {
      yield* checkSchemaCeilings(context, ceilings)
      hold(context)
    })
    // After a failed attempt, the capacity is released until the next attempt.
    const options = { asker, onLost: giveBack }
    const run = () => this.#commits.run(records => holding({ ...this.#operationContext(), records }), options)
    const commit = run().catch(async (error: unknown) => {
      if (!(error instanceof RemovalsPendingError)) throw error
      giveBack()
      ticket = await this.#purging.whenCapacityFor(error.removed)
      return run().finally(ticket.end)
    })
    this.#underWay.add(commit)
    try {
      const answered = await commit.finally(() => this.#underWay.delete(commit))
      await this.#whenVisible(answered.revision)
      return answered
    } finally {
      giveBack()
    }
  }

  #operationContext() {
    const { newId, now, seal } = this.#runtime
    return { scope: this.#scope, now: now(), newId, seal }
  }
}

/** A condition on an entity of the environment, or on the grant that a change is about. */
export type ChangeCondition = Precondition<ReadOperationName> | GrantCondition

function commandIf(
  condition: ChangeCondition,
  write: WriteOperation,
  input: unknown,
): (context: WriteContext) => unknown {
  if (!('thing' in condition)) return context => write({ ...context, grantCondition: condition }, input)
  const read = (readOperations as Record<string, ReadOperation>)[condition.thing]!
  const { params } = input as { readonly params: unknown }
  return conditional({
    tags: condition.tags,
    read: context => read(context, { params, query: {} }),
    write: context => write(context, input),
  })
}

function writeOperation(name: OperationName): WriteOperation {
  return (writeOperations as unknown as Record<string, WriteOperation>)[name]!
}

function noAccessEngine(): never {
  throw new AuthzError('INVALID_INPUT', 'effective access changes are not available in this process')
}

/** Turns a violated invariant into a coded error with its cause. Other errors stay unchanged. */
function contained(error: unknown): unknown {
  if (!(error instanceof InvariantError)) return error
  return new AuthzError('INTERNAL', 'an invariant of an environment is violated', { cause: error })
}

function* containedLines<Line>(lines: Iterable<Line>): Iterable<Line> {
  try {
    yield* lines
  } catch (error) {
    throw contained(error)
  }
}
