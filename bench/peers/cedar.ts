/**
 * Cedar as WebAssembly, in this process. There is one policy per grant, which is parsed once. Each check
 * includes the entities that it needs.
 */
import type { Query } from '../../src/model/decision.ts'
import { ACTIONS, closureOf, type Facts, type Peer } from './peer.ts'

interface Library {
  preparsePolicySet(id: string, policies: { staticPolicies: string }): { type: string }
  statefulIsAuthorized(call: object): { type: string; response?: { decision: string } }
}

const POLICIES = 'drive'

export class Cedar implements Peer {
  readonly name = 'Cedar 4.13 (WASM)'
  readonly cannot = 'keeps no entities: the caller sends groups and folders of both sides with each question'
  readonly isOverHttp = false
  #library: Library | null = null
  #facts: Facts | null = null

  async load(facts: Facts): Promise<void> {
    const name = '@cedar-policy/cedar-wasm/nodejs'
    this.#library = ((await import(name)) as { default: Library }).default
    const policies = facts.grants.map(({ who, role, on }) => {
      const actions = ACTIONS[role].map(action => `Action::"${action}"`).join(', ')
      return `permit(principal in Who::"${who}", action in [${actions}], resource in Thing::"${on}");`
    })
    const answer = this.#library.preparsePolicySet(POLICIES, { staticPolicies: policies.join('\n') })
    if (answer.type !== 'success') throw new Error(`Cedar refused the policies: ${JSON.stringify(answer)}`)
    this.#facts = facts
  }

  check({ user, action, type, key }: Query): boolean {
    const { memberOf, parentOf } = this.#facts!
    const entities = (kind: string, of: ReadonlyMap<string, readonly string[]>, name: string) =>
      closureOf(of, name).map(id => ({
        uid: { type: kind, id },
        attrs: {},
        parents: (of.get(id) ?? []).map(above => ({ type: kind, id: above })),
      }))
    const thing = `${type}:${key}`
    const answer = this.#library!.statefulIsAuthorized({
      principal: { type: 'Who', id: user },
      action: { type: 'Action', id: action },
      resource: { type: 'Thing', id: thing },
      context: {},
      preparsedPolicySetId: POLICIES,
      entities: [...entities('Who', memberOf, user), ...entities('Thing', parentOf, thing)],
    })
    if (answer.type !== 'success') throw new Error(`Cedar failed: ${JSON.stringify(answer)}`)
    return answer.response!.decision === 'allow'
  }

  async close(): Promise<void> {
    this.#library = null
  }
}
