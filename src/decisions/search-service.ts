/**
 * Serves AuthZEN searches (authzen.md 5), page by page, with the same decision logic as checks. A page is the
 * last one or contains the position of the next page. A position is a key. If a client reads all pages, an
 * entry that matches during the whole time is therefore returned exactly once, even if other entries change.
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type {
  ActionSearchRequest,
  ResourceSearchRequest,
  SubjectSearchRequest,
} from '#model/wire/decisions/access.ts'
import { tenantOf } from '#decisions/dialects/access-mapping.ts'
import type { AccessService } from './access-service.ts'
import type { CancelableClient } from '#model/caller.ts'
import type { DecisionService } from './decision-service.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import { AccessQueryContext, type EvaluationParts } from '#decisions/questions/request-attributes.ts'

const NOTHING: KeyPage = { keys: [], hasMore: false, last: null, total: 0 }

/** Start position and size of a page. */
type Position = Omit<PageRequest, 'triedMax'>

export class SearchService {
  readonly #decisions: DecisionService
  readonly #access: AccessService
  readonly #triedMax: number

  /** `triedMax` is the maximum number of candidates per page if rules are evaluated (`SEARCH_SCAN_MAX`). */
  constructor(decisions: DecisionService, access: AccessService, triedMax: number) {
    this.#decisions = decisions
    this.#access = access
    this.#triedMax = triedMax
  }

  subjects(
    environmentId: string,
    request: SubjectSearchRequest,
    position: Position,
    waiting: CancelableClient,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<UserQuestion>({
      action: action.name,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
      queryContext: this.#queryContext({ ...request, subject: {} }),
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
    waiting: CancelableClient,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<ResourceQuestion>({
      user: subject.id,
      action: action.name,
      type: resource.type,
      tenant: tenantOf(resource),
      queryContext: this.#queryContext({ ...request, resource: {} }),
    })
    const page = this.#page(position)
    return this.#decisions.search(environmentId, { kind: 'resources', question, page }, waiting)
  }

  /** Computes all actions and returns those of the page, because a type has few actions. */
  actions(
    environmentId: string,
    request: ActionSearchRequest,
    position: Position,
    waiting: CancelableClient,
  ): KeyPage | Promise<KeyPage> {
    const { subject, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = sendable<ActionQuestion>({
      user: subject.id,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
      queryContext: this.#queryContext({ ...request, action: {} }),
    })
    const found = this.#decisions.read<'actions'>(environmentId, { kind: 'actions', question }, waiting)
    return found instanceof Promise ? found.then(all => pageOf(all, position)) : pageOf(found, position)
  }

  #page(position: Position): PageRequest {
    return { ...position, triedMax: this.#triedMax }
  }

  /**
   * Returns the attributes and the context of the search, which are the same for each candidate. `parts` must
   * not contain properties of the searched entity (conditions.md 16, ruling 5), because a check of a
   * candidate would not contain them either. The tenant is an exception: it is part of the query.
   */
  #queryContext(parts: EvaluationParts): AccessQueryContext {
    return new AccessQueryContext(parts, this.#decisions.now())
  }
}

function pageOf(all: readonly string[], { after, limit }: Position): KeyPage {
  const rest = after === null ? all : all.filter(action => compareUtf8(action, after) > 0)
  const keys = rest.slice(0, limit)
  return { keys, hasMore: rest.length > limit, last: keys.at(-1) ?? after, total: all.length }
}
