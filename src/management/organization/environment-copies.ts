/**
 * Operations of the organization that read an environment: its statistics, and copies of it (native.md B.13).
 * A copy contains the schema, not the facts, because these belong to the tenants of the environment.
 *
 * A new environment is hidden until its copy is complete: no path can name it. After a crash, the next start
 * removes it (`Organization.bootstrap`). It is filled in several commits. A copy into an existing environment
 * is one commit, so the row limit of a commit applies.
 */
import type { AuditCaller, AuditedCall } from '#management/audit/audit.ts'
import type { Answered } from '#management/drafts/commit-draft.ts'
import { Created } from '#management/operations/answer-marks.ts'
import type { EnvironmentService } from '#management/environment/environment-service.ts'
import type { ExportedSchema } from '#management/schema/transfer/schema-export.ts'
import type { SchemaImport } from '#management/schema/transfer/schema-import.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { EnvironmentRecord } from '#entities/organization-records.ts'
import type { Revision } from '#model/revision.ts'
import type {
  Environment,
  EnvironmentCopy,
  EnvironmentCreate,
  EnvironmentPath,
  EnvironmentStats,
} from '#model/wire/organization/environment.ts'
import { environmentClosed } from '#replica/closed-environment.ts'
import { addEnvironment, environmentAt, presentEnvironment, removeEnvironment } from './environments.ts'
import type { OpenEnvironments } from './environment-opening.ts'
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import type { OrganizationService } from './organization-service.ts'

/** A response about the organization and an environment, with the revision of each. */
interface AnsweredTwice<Answer> {
  readonly answer: Answer
  readonly revisions: readonly [organization: Revision, environment: Revision]
}

/** Maximum number of rules in one commit of a copy. */
const RULES_A_COMMIT = 10_000
const WITHOUT_SETS = { conditionSets: [], rules: [], proxyConfigs: [] } as const

interface CopyInput {
  readonly params: EnvironmentPath
  readonly body: EnvironmentCopy
}

export class EnvironmentCopies {
  readonly #organization: OrganizationService
  readonly #environments: OpenEnvironments
  readonly #onFault: (error: unknown) => void

  /** `onFault` receives the error if a failed copy could not be removed immediately. */
  constructor(
    organization: OrganizationService,
    environments: OpenEnvironments,
    onFault: (error: unknown) => void,
  ) {
    this.#organization = organization
    this.#environments = environments
    this.#onFault = onFault
  }

  async getEnvironmentStats(
    principal: Principal,
    input: { readonly params: EnvironmentPath },
  ): Promise<AnsweredTwice<EnvironmentStats>> {
    const { answer: environment, revision } = await this.#organization.read(principal, context =>
      presentEnvironment(context, environmentAt(context, input.params)),
    )
    const counted = await this.#serviceOf(environment.id).execute('countEnvironment', undefined)
    const stats = { ...counted.answer, mau: 0, has_decision_logs: false as const, members: [] }
    return { answer: { ...environment, pdp_configs: [], stats }, revisions: [revision, counted.revision] }
  }

  /**
   * Throws `DUPLICATE_ENTITY` if the key of the new environment is in use, or if the existing environment has
   * a part with the same key that must not be overwritten. Throws `NOT_FOUND` if the copied part references a
   * part that neither the copy nor the target contains.
   */
  async copyEnvironment(
    principal: Principal,
    input: CopyInput,
    caller: AuditCaller,
  ): Promise<AnsweredTwice<Created<Environment>>> {
    const { params, body } = input
    const call: AuditedCall = { ...caller, operation: 'copyEnvironment', input }
    const { existing, new: created } = body.target_env
    if (Boolean(existing) === Boolean(created)) {
      const msg = 'expected either an existing environment or a new one'
      const detail = [{ loc: ['body', 'target_env'], msg, type: 'value_error' }]
      throw new AuthzError('INVALID_SHAPE', `target_env: ${msg}`, { detail })
    }
    const source = await this.#recordAt(principal, params)
    const exported = { scope: body.scope ?? {} }
    const { answer: schema } = await this.#serviceOf(source.id).execute('exportSchema', exported)
    const copy = { schema, conflictStrategy: body.conflict_strategy ?? 'fail' }
    const { answer, revisions } = created
      ? await this.#copyIntoNew(principal, { proj_id: params.proj_id, body: created, copy, call })
      : await this.#copyIntoExisting(principal, source, { ...params, env_id: existing! }, { copy, call })
    return { answer: new Created(answer), revisions }
  }

  async #copyIntoExisting(
    principal: Principal,
    source: EnvironmentRecord,
    path: EnvironmentPath,
    { copy, call }: { readonly copy: SchemaImport; readonly call: AuditedCall },
  ): Promise<AnsweredTwice<Environment>> {
    const target = await this.#recordAt(principal, path)
    if (target.id === source.id) {
      throw new AuthzError('INVALID_INPUT', 'target_env: an environment cannot be copied into itself')
    }
    const copied = await this.#serviceOf(target.id).execute('importSchema', copy, call)
    const { answer, revision } = await this.#organization.read(principal, context =>
      presentEnvironment(context, target),
    )
    return { answer, revisions: [revision, copied.revision] }
  }

  async #copyIntoNew(
    principal: Principal,
    target: {
      readonly proj_id: string
      readonly body: EnvironmentCreate
      readonly copy: SchemaImport
      readonly call: AuditedCall
    },
  ): Promise<AnsweredTwice<Environment>> {
    // The path's own reference to the project is used, because the id of a project could be the key of
    // another project.
    const input = { params: { proj_id: target.proj_id }, body: target.body }
    const made = await this.#organization.commit(
      principal,
      context => addEnvironment(context, input, { isBeingCopied: true }),
      // There is no audit entry yet, because no client sees the environment. The audit log records the
      // operation when the environment becomes visible.
      null,
    )
    const { id } = made.answer
    const [first, ...others] = commitsOf(target.copy)
    try {
      let copied = await this.#serviceOf(id).execute('importSchema', first, target.call)
      // The audit log has one entry for all commits.
      for (const copy of others) copied = await this.#serviceOf(id).execute('importSchema', copy)
      const closure = this.#environments.closureOf(id)
      if (closure) throw environmentClosed(closure.reason)
      const { answer, revision } = await this.#reveal(principal, id, target.call)
      return { answer, revisions: [revision, copied.revision] }
    } catch (error) {
      throw (await this.#discard(principal, id)) ? error : deletedMeanwhile()
    }
  }

  /** Removes a failed copy, or leaves that to the next start. Returns false if it no longer exists. */
  async #discard(principal: Principal, id: string): Promise<boolean> {
    const discard = (context: OrganizationWriteContext): boolean => {
      const environment = context.records.byId('environment', id)
      if (environment?.isBeingCopied) removeEnvironment(context, environment)
      return environment !== null
    }
    try {
      return (await this.#organization.commit(principal, discard)).answer
    } catch (error) {
      this.#onFault(error)
      return true
    }
  }

  #reveal(principal: Principal, id: string, call: AuditedCall): Promise<Answered<Environment>> {
    const reveal = (context: OrganizationWriteContext): Environment => {
      const environment = context.records.byId('environment', id)
      if (!environment) throw deletedMeanwhile()
      const revealed = { ...environment, isBeingCopied: false }
      context.records.put(revealed)
      return presentEnvironment(context, revealed)
    }
    return this.#organization.commit(principal, reveal, call)
  }

  async #recordAt(principal: Principal, path: EnvironmentPath): Promise<EnvironmentRecord> {
    return (await this.#organization.read(principal, context => environmentAt(context, path))).answer
  }

  #serviceOf(environmentId: string): EnvironmentService {
    const service = this.#environments.serviceOf(environmentId)
    if (service) return service
    const closure = this.#environments.closureOf(environmentId)
    if (closure) throw environmentClosed(closure.reason)
    throw new AuthzError('NOT_READY', 'this environment is not open; try again shortly')
  }
}

/**
 * Splits a copy into several commits, because one commit might not hold all rows of a schema. They are
 * ordered so that each part references only earlier ones. No client sees the environment before the last
 * commit.
 */
function commitsOf({ schema, conflictStrategy }: SchemaImport): [SchemaImport, ...SchemaImport[]] {
  const { conditionSets, rules, proxyConfigs } = schema
  const nothing = { resources: [], tenantRoles: [], builtInTypes: [], ...WITHOUT_SETS }
  const others: ExportedSchema[] = []
  if (conditionSets.length + proxyConfigs.length > 0) others.push({ ...nothing, conditionSets, proxyConfigs })
  for (let from = 0; from < rules.length; from += RULES_A_COMMIT) {
    others.push({ ...nothing, rules: rules.slice(from, from + RULES_A_COMMIT) })
  }
  const copyOf = (part: ExportedSchema): SchemaImport => ({ schema: part, conflictStrategy })
  return [copyOf({ ...schema, ...WITHOUT_SETS }), ...others.map(copyOf)]
}

function deletedMeanwhile(): AuthzError {
  return new AuthzError('NOT_FOUND', 'the copy was aborted: its project was deleted, or it took too long')
}
