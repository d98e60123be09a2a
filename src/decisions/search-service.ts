/**
 * AuthZEN searches (authzen.md section 5): the same decision core seen from another side, page by page. A page is
 * complete or says where it goes on; where it goes on is a key, so what is true throughout a walk appears exactly once
 * whatever else changes meanwhile.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import type { ActionSearchRequest, ResourceSearchRequest, SubjectSearchRequest } from '#model/wire/access.ts'
import { tenantOf } from './access-mapping.ts'
import type { AccessService } from './access-service.ts'
import type { Leaver, Waiting } from './decision-pool.ts'
import type { DecisionService } from './decision-service.ts'

const NOTHING: KeyPage = { keys: [], hasMore: false, total: 0 }

export class SearchService {
  readonly #decisions: DecisionService
  readonly #access: AccessService

  constructor(decisions: DecisionService, access: AccessService) {
    this.#decisions = decisions
    this.#access = access
  }

  subjects(
    environmentId: string,
    request: SubjectSearchRequest,
    page: PageRequest,
    waiting: Waiting,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = {
      action: action.name,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
    }
    return this.#decisions.search(environmentId, { kind: 'users', question, page }, waiting)
  }

  resources(
    environmentId: string,
    request: ResourceSearchRequest,
    page: PageRequest,
    waiting: Waiting,
  ): KeyPage | Promise<KeyPage> {
    const { subject, action, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = {
      user: subject.id,
      action: action.name,
      type: resource.type,
      tenant: tenantOf(resource),
    }
    return this.#decisions.search(environmentId, { kind: 'resources', question, page }, waiting)
  }

  /** The actions of a type are few: they are found whole and cut to the page. */
  actions(
    environmentId: string,
    request: ActionSearchRequest,
    page: PageRequest,
    waiting: Leaver,
  ): KeyPage | Promise<KeyPage> {
    const { subject, resource } = request
    if (!this.#access.isUserType(subject.type)) return NOTHING
    const question = {
      user: subject.id,
      type: resource.type,
      key: resource.id,
      tenant: tenantOf(resource),
    }
    const found = this.#decisions.read<'actions'>(environmentId, { kind: 'actions', question }, waiting)
    return found instanceof Promise ? found.then(all => pageOf(all, page)) : pageOf(found, page)
  }
}

function pageOf(all: readonly string[], { after, limit }: PageRequest): KeyPage {
  const rest = after === null ? all : all.filter(action => compareUtf8(action, after) > 0)
  return { keys: rest.slice(0, limit), hasMore: rest.length > limit, total: all.length }
}
