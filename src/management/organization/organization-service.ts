/**
 * Runs the operations of the organization. A response is sent when the changes are in force in this process.
 */
import { SOMEBODY, type WaitingClient } from '#model/caller.ts'
import { conditional, type Precondition } from '#management/conditional/conditional-change.ts'
import { audited, type AuditCaller, type AuditedCall } from '#management/audit/audit.ts'
import type { Answered } from '#management/drafts/commit-draft.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { drive, type TimeShare, unsharedTime } from '#scheduling/thread-scheduler.ts'
import type { AnswerOf, Resumable } from '#scheduling/resumable.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { Instant } from '#entities/instant.ts'
import type { Revision } from '#model/revision.ts'
import type { Closure } from '#replica/closed-environment.ts'
import type { KeySecrets } from '#management/scopes/key-secrets.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import type {
  OrganizationReadContext,
  OrganizationWriteContext,
  SessionLookup,
} from '#management/scopes/organization-context.ts'
import {
  type OrganizationOperations,
  type OrganizationRead,
  organizationReads,
  type OrganizationThing,
  type OrganizationWrite,
  organizationWrites,
} from './organization-operations.ts'
import type { OrganizationState } from './organization.ts'

/** Precondition of a change. Its parameters are those of the operation that reads the entity. */
export type OrganizationCondition = Precondition<OrganizationThing>

export interface OrganizationServiceOptions {
  readonly organization: OrganizationState
  readonly runtime: RuntimeServices
  readonly secrets: KeySecrets
  readonly keyOverlapSeconds: number
  readonly closureOf: (environmentId: string) => Closure | null
  readonly recordsOf: (environmentId: string) => RecordReader
  readonly lastUseOf: (keyId: string) => Instant | null
  /** Null if members cannot sign in. */
  readonly members: MemberSettings | null
  /** Null or absent if members cannot sign in. */
  readonly sessions?: SessionLookup | null
  /** Its share of the thread; absent: it does not share the thread. */
  readonly timeShare?: TimeShare
  /** Resolves when every thread of this process uses the keys and environments of that revision. */
  readonly whenInForce: (revision: Revision) => Promise<void>
}

export class OrganizationService {
  readonly #options: OrganizationServiceOptions
  readonly #timeShare: TimeShare

  constructor(options: OrganizationServiceOptions) {
    this.#options = options
    this.#timeShare = options.timeShare ?? unsharedTime()
  }

  /**
   * Runs an operation by its name; the route has validated the input. Throws the operation's `AuthzError`s,
   * and `PRECONDITION_FAILED` if the condition is not met.
   */
  async execute(
    name: keyof OrganizationOperations,
    principal: Principal,
    input: unknown,
    caller: AuditCaller | null = null,
    waiting: WaitingClient = SOMEBODY,
    condition: OrganizationCondition | null = null,
  ): Promise<Answered<unknown>> {
    const read = (organizationReads as unknown as Record<string, OrganizationRead>)[name]
    if (read) return this.read(principal, context => read(context, input), waiting)
    const write = (organizationWrites as unknown as Record<string, OrganizationWrite>)[name]!
    const call = caller && { ...caller, operation: name, input }
    const run = (context: OrganizationWriteContext): unknown => write(context, input)
    if (condition === null) return this.commit(principal, run, call, waiting)
    const reading = organizationReads[condition.thing] as OrganizationRead
    const command = conditional({ ...condition, read: context => reading(context, input), write: run })
    return this.commit(principal, command, call, waiting)
  }

  /**
   * Returns the result of `query`. Before that, waits until the state that the query has read is in force, so
   * that the caller can use the entities in the result.
   */
  async read<Result>(
    principal: Principal,
    query: (context: OrganizationReadContext) => Result,
    waiting: WaitingClient = SOMEBODY,
  ): Promise<Answered<AnswerOf<Result>>> {
    const { organization } = this.#options
    const { store } = organization
    try {
      const context = { ...this.#context(principal), records: new RecordReader(store.view) }
      const answer = await drive<unknown>(() => query(context), { timeShare: this.#timeShare, waiting })
      return {
        answer: answer as AnswerOf<Result>,
        revision: await this.#inForce(store.view.sequence()),
      }
    } catch (error) {
      if (error instanceof AuthzError) await this.#inForce(store.view.sequence())
      throw error
    }
  }

  /**
   * Commits the writes of `command`, with an audit log entry for the call. Resolves when they are in force.
   * Throws the errors of `DraftCommits.run`.
   */
  async commit<Answer>(
    principal: Principal,
    command: (context: OrganizationWriteContext) => Answer | Resumable<Answer>,
    call: AuditedCall | null = null,
    waiting: WaitingClient = SOMEBODY,
  ): Promise<Answered<Answer>> {
    const { organization, whenInForce } = this.#options
    try {
      const answered = await organization.commits.run(
        records => audited(command, call, 'organization')({ ...this.#context(principal), records }),
        { asker: { timeShare: this.#timeShare, waiting } },
      )
      await whenInForce(answered.revision)
      return answered
    } catch (error) {
      if (error instanceof AuthzError) await this.#inForce(organization.store.view.sequence())
      throw error
    }
  }

  /** Waits until a state that the view has shown is durable and in force. */
  async #inForce(sequence: number): Promise<Revision> {
    const { organization, whenInForce } = this.#options
    const revision = { ...(await organization.store.ledger.head()), sequence }
    await whenInForce(revision)
    return revision
  }

  #context(principal: Principal) {
    const { runtime, secrets, keyOverlapSeconds, closureOf, recordsOf, lastUseOf, members } = this.#options
    const { newId } = runtime
    const lookups = { closureOf, recordsOf, lastUseOf, members, sessions: this.#options.sessions ?? null }
    return { principal, now: runtime.now(), newId, secrets, keyOverlapSeconds, ...lookups }
  }
}
