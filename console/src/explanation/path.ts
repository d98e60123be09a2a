/**
 * Path that explains why a check is allowed. It consists of nodes from the user to the resource and of the
 * edges between them. Every page generates both the drawing and the text from this path.
 */
import { type Explained, type Request, resourceName, type RuleNames, type Step } from './explained.ts'
import { derivedEdge, heldEdge, type PathEdge, plainEdge } from './path-edges.ts'
import {
  instanceNode,
  resourceSideNode,
  resourceNode,
  type PathNode,
  tenantNode,
  userSideNode,
  userNode,
  type Words,
} from './path-nodes.ts'

/** A path. `edges` contains one edge between each node and the next one. */
export interface Path {
  readonly nodes: readonly PathNode[]
  readonly edges: readonly PathEdge[]
}

/** Null if the check is denied, or if the response does not contain the derivation. */
export function pathOfAllow({ debug }: Explained, words: Words): Path | null {
  const { request, rbac, rebac, abac } = debug
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined) {
    const held = { kind: 'tenant-role', tenant: request.tenant, role: tenantRole } as const
    const end = rbac.expires_at === undefined ? {} : { expires_at: rbac.expires_at }
    return overSteps(request, [{ ...held, ...end }], words)
  }
  if (rebac.allow && rebac.path !== undefined && rebac.path.length > 0)
    return overSteps(request, rebac.path, words)
  const [rule] = abac.allowing_rules
  return abac.allow && rule !== undefined ? overRule(request, rule, words) : null
}

/** Explains in one sentence why the check is allowed. */
export function whyAllowed({ debug }: Explained, { why, ...words }: Words): string {
  const { request, rbac, rebac, abac } = debug
  const user = request.user.key
  const resource = resourceName(request.resource)
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined)
    return why.byTenantRole(user, tenantRole, request.tenant, request.action, request.resource.type)
  const [role] = rebac.allowing_roles
  if (rebac.allow) {
    if (role === undefined) return why.byRoleWithoutPath(user, resource)
    const [first] = rebac.path ?? []
    return first?.kind === 'instance-role' && resourceName(first.instance) !== resource
      ? why.byRoleFrom(user, role, resource, request.action, resourceName(first.instance))
      : why.byRole(user, role, resource, request.action)
  }
  const [rule] = abac.allowing_rules
  return rule === undefined ? why.byUnnamedRule : ruleSentence(rule, request.action, { why, ...words })
}

/** Earliest expiration time of all edges. Null if no edge expires. */
export function endOfPath({ edges }: Path): string | null {
  const ends = edges.flatMap(({ end }) => (end === undefined ? [] : [end]))
  return ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null
}

function overSteps(request: Request, steps: readonly Step[], words: Words): Path {
  const nodes: PathNode[] = [userNode(request, words)]
  const edges: PathEdge[] = []
  const user = request.user.key
  for (const step of steps) {
    if (step.kind === 'derivation') {
      nodes.push(instanceNode(step.object, step.role, words))
      edges.push(derivedEdge(step, 'there', words))
    } else if (step.kind === 'instance-role') {
      const { instance, role, expires_at: end } = step
      nodes.push(instanceNode(instance, role, words))
      edges.push(heldEdge(user, { role, instance, ...(end === undefined ? {} : { end }) }, words))
    } else {
      const { tenant, role, expires_at: end } = step
      nodes.push(tenantNode(tenant, role, words))
      edges.push(plainEdge(words.path.holds, words.path.holdsIn(user, role, tenant), end))
    }
  }
  const last = steps.at(-1)
  if (last?.kind === 'tenant-role') {
    const sentence = words.path.roleMay(
      last.role,
      request.action,
      resourceName(request.resource),
      last.tenant,
    )
    nodes.push(resourceNode(request, words))
    edges.push(plainEdge(words.path.may(request.action), sentence))
  }
  return { nodes, edges }
}

function overRule(request: Request, rule: RuleNames, words: Words): Path {
  const { path } = words
  const [who, what] = [userSideNode(rule, words), resourceSideNode(rule, words)]
  const user = request.user.key
  const resource = resourceName(request.resource)
  return {
    nodes: [userNode(request, words), who, what, resourceNode(request, words)],
    edges: [
      who.kind === 'role'
        ? plainEdge(path.holds, path.holdsRole(user, who.key))
        : plainEdge(path.isIn, path.isInUserSet(user, who.key)),
      plainEdge(path.may(request.action), ruleSentence(rule, request.action, words)),
      what.kind === 'type'
        ? plainEdge(path.isType, path.isOfType(resource, what.key))
        : plainEdge(path.contains, path.isInResourceSet(resource, what.key)),
    ],
  }
}

function ruleSentence(rule: RuleNames, action: string, words: Words): string {
  const { who: whoIs, what: whatIs } = words.rule
  const [who, what] = [userSideNode(rule, words), resourceSideNode(rule, words)]
  return words.rule.may(
    who.kind === 'role' ? whoIs.role(who.key) : whoIs.set(who.key),
    action,
    what.kind === 'type' ? whatIs.type(what.key) : whatIs.set(what.key),
  )
}
