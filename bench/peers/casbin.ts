/**
 * node-casbin, in this process. Groups are roles, folders are a second kind of role, and there is one policy
 * per grant and action.
 */
import type { Query } from '../../src/model/decision.ts'
import { ACTIONS, type Facts, type Peer } from './peer.ts'

interface Enforcer {
  addPolicies(rules: string[][]): Promise<boolean>
  addNamedGroupingPolicies(kind: string, rules: string[][]): Promise<boolean>
  getNamedRoleManager(kind: string): unknown
  enforceSync(...request: string[]): boolean
}
interface Library {
  newModelFromString(text: string): unknown
  newEnforcer(model: unknown): Promise<Enforcer>
}

const MODEL = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
g2 = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.act == p.act && g(r.sub, p.sub) && g2(r.obj, p.obj)
`
/**
 * Maximum depth of roles. The default of the library is ten levels, which is not sufficient: folders are up
 * to ten levels deep, and the document is one more level.
 */
const LEVELS = 20

export class Casbin implements Peer {
  readonly name = 'node-casbin 5.51'
  readonly cannot = 'nothing of this model'
  readonly isOverHttp = false
  #enforcer: Enforcer | null = null

  async load({ memberOf, parentOf, grants }: Facts): Promise<void> {
    const name = 'casbin'
    const { newEnforcer, newModelFromString } = (await import(name)) as Library
    const enforcer = await newEnforcer(newModelFromString(MODEL))
    for (const kind of ['g', 'g2']) {
      Object.assign(enforcer.getNamedRoleManager(kind) as object, { maxHierarchyLevel: LEVELS })
    }
    const links = (of: ReadonlyMap<string, readonly string[]>) =>
      [...of].flatMap(([from, all]) => all.map(to => [from, to]))
    await enforcer.addNamedGroupingPolicies('g', links(memberOf))
    await enforcer.addNamedGroupingPolicies('g2', links(parentOf))
    const rules = grants.flatMap(({ who, role, on }) => ACTIONS[role].map(action => [who, on, action]))
    // Duplicate policies are removed, because the library would reject them. They occur for users who are
    // both viewer and editor.
    const different = new Map(rules.map(rule => [rule.join(' '), rule]))
    await enforcer.addPolicies([...different.values()])
    this.#enforcer = enforcer
  }

  check({ user, action, type, key }: Query): boolean {
    return this.#enforcer!.enforceSync(user, `${type}:${key}`, action)
  }

  async close(): Promise<void> {
    this.#enforcer = null
  }
}
