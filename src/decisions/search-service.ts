/**
 * AuthZEN searches (authzen.md 5): the same decision core seen from another side, page by page. A page is
 * complete or says where it goes on; where it goes on is a key, so what is true throughout a walk appears exactly once
 * whatever else changes meanwhile.
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import type { ActionSearchRequest, ResourceSearchRequest, SubjectSearchRequest } from '#model/wire/access.ts'
import { BEFORE_RULES, type Circumstances } from '#model/decision.ts'
import { tenantOf } from './access-mapping.ts'
import type { AccessService } from './access-service.ts'
import type { Leaver } from './decision-pool.ts'
import type { DecisionService } from './decision-service.ts'
import { sendable } from './sendable-query.ts'
import { AccessCircumstances, type EvaluationParts } from './sent-attributes.ts'

const NOTHING: KeyPage = { keys: [], hasMore: false, last: null, total: 0 }

/** Where a page begins, and its size. */
type Position = Omit<PageRequest, 'triedMax'>

export class SearchService {
  readonly #decisions: DecisionService
  readonly #access: AccessService
  readonly #triedMax: number

  /** `triedMax`: candidates that a page tries where rules are asked (`SEARCH_SCAN_MAX`). */
  constructor(decisions: DecisionService, access: AccessService, triedMax: number) {
    this.#decisions = decisions
    this.#access = access
    this.#triedMax = triedMax
  }

  subjects(
    environmentId: string,
    request: SubjectSearchRequest,
    position: Position,
    waiting: Leaver,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<UserQuestion>({
      action: action.name,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
      ...this.#circumstances(environmentId, { ...request, subject: {} }),
    })
    return this.#decisions.search(
      environmentId,
      { kind: 'users', question, page: this.#page(position) },
      waiting,
    )
  }

  resources(
    environmentId: string,
    request: ResourceSearchRequest,
    position: Position,
    waiting: Leaver,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<ResourceQuestion>({
      user: subject.id,
      action: action.name,
      type: resource.type,
      tenant: tenantOf(resource),
      ...this.#circumstances(environmentId, { ...request, resource: {} }),
    })
    const page = this.#page(position)
    return this.#decisions.search(environmentId, { kind: 'resources', question, page }, waiting)
  }

  /** The actions of a type are few: they are found whole and cut to the page. */
  actions(
    environmentId: string,
    request: ActionSearchRequest,
    position: Position,
    waiting: Leaver,
  ): KeyPage | Promise<KeyPage> {
    const { subject, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<ActionQuestion>({
      user: subject.id,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
      ...this.#circumstances(environmentId, { ...request, action: {} }),
    })
    const found = this.#decisions.read<'actions'>(environmentId, { kind: 'actions', question }, waiting)
    return found instanceof Promise ? found.then(all => pageOf(all, position)) : pageOf(found, position)
  }

  #page(position: Position): PageRequest {
    return { ...position, triedMax: this.#triedMax }
  }

  /**
   * Attributes and context of the search, the same for each candidate. The parts must not have properties of the side that is searched
   * for (conditions.md 16, ruling 5): an evaluation of a candidate would not have them. Only the tenant among them counts, and it
   * is a part of the question.
   */
  #circumstances(
    environmentId: string,
    parts: EvaluationParts,
  ): { readonly circumstances: Circumstances } | typeof BEFORE_RULES {
    const readAt = this.#decisions.readAt(environmentId)
    return readAt === null ? BEFORE_RULES : { circumstances: new AccessCircumstances(parts, readAt) }
  }
}

function pageOf(all: readonly string[], { after, limit }: Position): KeyPage {
  const rest = after === null ? all : all.filter(action => compareUtf8(action, after) > 0)
  const keys = rest.slice(0, limit)
  return { keys, hasMore: rest.length > limit, last: keys.at(-1) ?? after, total: all.length }
}
