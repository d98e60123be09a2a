/** One way on which an access comes about, as the interface explains it: things in a line, and what leads from each to the next. */
import type { Schemas } from '../interface/client.ts'
import type { Texts } from '../texts/en.ts'

export interface Asked {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly instance: string
  /** Empty: wherever the instance lives. */
  readonly tenant: string
}

export interface Thing {
  readonly kind: 'user' | 'group' | 'role' | 'set' | 'instance'
  /** Of an instance. */
  readonly type?: string
  readonly key: string
}

export interface Step {
  /** One sentence. */
  readonly sentence: string
  /** What leads to `to`: a role, a relation. */
  readonly by: string
  readonly to: Thing
  readonly end: string | null
}

export interface Way {
  readonly from: Thing
  readonly steps: readonly Step[]
}

type Explained = Schemas['ExplainedResult']
type PathStep = Schemas['DecisionStep']
type Name = { readonly type: string; readonly key: string }

/** The type whose instances are groups, and the role of those who are in one. */
const GROUP = 'group'
const MEMBER = 'member'

/** Null: it is not allowed, or the way is too long to be told. */
export function wayOf({ debug }: Explained, asked: Asked, texts: Texts): Way | null {
  const steps = stepsOf(debug, asked, texts.access.why)
  return steps === null ? null : { from: { kind: 'user', key: asked.user }, steps }
}

function stepsOf(
  { rbac, rebac, abac, request }: Explained['debug'],
  asked: Asked,
  said: Texts['access']['why'],
): readonly Step[] | null {
  const { user, action, type, instance } = asked
  const target = thingOf({ type, key: instance })
  const may = (role: string): Step => ({
    sentence: said.may(role, action, nameOf(target)),
    by: action,
    to: target,
    end: null,
  })
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined) {
    const held = said.holdsInTenant(user, tenantRole, request.tenant)
    const by = said.inTenant(request.tenant)
    const to: Thing = { kind: 'role', key: tenantRole }
    return [{ sentence: held, by, to, end: rbac.expires_at ?? null }, may(tenantRole)]
  }
  if (rebac.allow && rebac.path !== undefined && rebac.path.length > 0) {
    const steps = rebac.path.map(step => stepOf(step, user, said))
    const role = rebac.allowing_roles[0] ?? ''
    const last = steps.at(-1)!
    // It ends at the resource already: what is added is what the role may do.
    return [...steps.slice(0, -1), { ...last, sentence: `${last.sentence} ${said.roleMay(role, action)}` }]
  }
  const [rule] = abac.allow ? abac.allowing_rules : []
  if (rule === undefined) return null
  const who = rule.userset ?? rule.role ?? ''
  const what = rule.resourceset ?? rule.resource_type ?? ''
  return [
    {
      sentence: rule.userset === undefined ? said.holdsRole(user, who) : said.inUserSet(user, who),
      by: rule.userset === undefined ? said.role : said.userSet,
      to: { kind: rule.userset === undefined ? 'role' : 'set', key: who },
      end: null,
    },
    {
      sentence: said.rule(who, action, what),
      by: `${said.byRule} · ${action}`,
      to: { kind: 'set', key: what },
      end: null,
    },
    {
      sentence:
        rule.resourceset === undefined
          ? said.isOfType(nameOf(target), what)
          : said.inResourceSet(nameOf(target), what),
      by: rule.resourceset === undefined ? said.type : said.resourceSet,
      to: target,
      end: null,
    },
  ]
}

function stepOf(step: PathStep, user: string, said: Texts['access']['why']): Step {
  const end = step.expires_at ?? null
  if (step.kind === 'tenant-role') {
    const sentence = said.holdsInTenant(user, step.role, step.tenant)
    return { sentence, by: said.inTenant(step.tenant), to: { kind: 'role', key: step.role }, end }
  }
  if (step.kind === 'instance-role') {
    const to = thingOf(step.instance)
    const isMember = to.kind === 'group' && step.role === MEMBER
    const sentence = isMember ? said.memberOf(user, to.key) : said.holds(user, step.role, nameOf(to))
    return { sentence, by: step.role, to, end }
  }
  const { subject, object, relation, role, derivation } = step
  const [from, to] = [thingOf(subject), thingOf(object)]
  const isOfMembers = from.kind === 'group' && derivation.role === MEMBER
  if (isOfMembers && to.kind === 'group' && role === MEMBER) {
    return { sentence: said.nested(from.key, to.key), by: said.partOf, to, end }
  }
  if (isOfMembers && relation.startsWith(`${GROUP}_`)) {
    return { sentence: said.granted(from.key, role, nameOf(to)), by: role, to, end }
  }
  const sentence = said.derived({
    subject: nameOf(from),
    relation,
    object: nameOf(to),
    held: derivation.role,
    role,
  })
  return { sentence, by: `${relation} · ${role}`, to, end }
}

function thingOf({ type, key }: Name): Thing {
  return type === GROUP ? { kind: 'group', type, key } : { kind: 'instance', type, key }
}

function nameOf({ type, key }: Thing): string {
  return type === undefined ? key : `${type}:${key}`
}
