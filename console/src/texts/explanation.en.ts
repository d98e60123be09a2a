/** Why something is allowed or nearly is, in English: what the pages that say why have in common. */

export interface DerivedEdge {
  readonly from: string
  readonly relation: string
  readonly to: string
  /** The role on `from`. */
  readonly held: string
  /** The role that it gives on `to`. */
  readonly role: string
}

export const explanationEn = {
  kinds: {
    user: 'user',
    tenant: 'tenant',
    group: 'group',
    role: 'role',
    userSet: 'user set',
    resourceSet: 'resource set',
    every: 'every',
  },
  why: {
    byTenantRole: (user: string, role: string, tenant: string, action: string, type: string) =>
      `${user} holds the role ${role} in the tenant ${tenant}, and that role may ${action} every ${type} there.`,
    byRole: (user: string, role: string, resource: string, action: string) =>
      `${user} holds the role ${role} on ${resource}, and that role may ${action}.`,
    byRoleFrom: (user: string, role: string, resource: string, action: string, from: string) =>
      `By way of ${from}, ${user} holds the role ${role} on ${resource}, and that role may ${action}.`,
    byRoleWithoutPath: (user: string, resource: string) =>
      `${user} holds a role on ${resource} that allows it. Too much leads there to say how the role is held.`,
    byUnnamedRule: 'A rule allows it.',
  },
  path: {
    holds: 'holds',
    may: (action: string) => `may ${action}`,
    contains: 'contains it',
    isType: 'is its type',
    needs: (roles: string) => `needs ${roles}`,
    holdsOnly: (roles: string) => `holds ${roles}`,
    granted: 'is granted',
    isIn: 'is in',
    becomes: (from: string, to: string) => `${from} → ${to}`,
    guarded: 'if no direct role',
    blocked: (roles: string) => `void: ${roles} held directly`,
    missing: 'missing',
    memberOf: (user: string, group: string) => `${user} is a member of the group ${group}.`,
    holdsOn: (user: string, role: string, on: string) => `${user} holds the role ${role} on ${on}.`,
    holdsIn: (user: string, role: string, tenant: string) =>
      `${user} holds the role ${role} in the tenant ${tenant}.`,
    holdsRole: (user: string, role: string) => `${user} holds the role ${role}.`,
    isInUserSet: (user: string, set: string) => `${user} is in the user set ${set}.`,
    isInResourceSet: (name: string, set: string) => `${name} is in the resource set ${set}.`,
    isOfType: (name: string, type: string) => `${name} is of the type ${type}.`,
    roleMay: (role: string, action: string, resource: string, tenant: string) =>
      `${role} may ${action} ${resource}, which belongs to the tenant ${tenant}.`,
    groupIsIn: (inner: string, outer: string) =>
      `The group ${inner} is in the group ${outer}: its members are members there, too.`,
    groupHolds: (group: string, role: string, on: string) =>
      `The group ${group} is granted the role ${role} on ${on}: its members hold it.`,
    derives: ({ from, relation, to, held, role }: DerivedEdge) =>
      `${from} is ${relation} of ${to}: whoever holds ${held} on ${from} holds ${role} on ${to}.`,
  },
  rule: {
    may: (who: string, action: string, what: string) => `By a rule, ${who} may ${action} ${what}.`,
    who: {
      set: (set: string) => `whoever is in the user set ${set}`,
      role: (role: string) => `whoever holds the role ${role}`,
    },
    what: {
      set: (set: string) => `what is in the resource set ${set}`,
      type: (type: string) => `every ${type}`,
    },
  },
  near: {
    title: 'What is nearest to an allow',
    lead: 'Each of these would have allowed it, but for one thing.',
    more: 'There are more, or may be.',
    onlyMore: 'Too much leads to the resource for all of it to be looked at, so what is nearest is not told.',
    otherRoleTitle: (needed: string, on: string) => `The role ${needed} on ${on}`,
    guardTitle: (on: string) => `No direct role on ${on}`,
    noTupleTitle: (relation: string, on: string) => `A ${relation} of ${on}`,
    otherRole: (user: string, held: string, needed: string, on: string) =>
      `${user} would need the role ${needed} on ${on}, and holds ${held}.`,
    extending: (held: string, needed: string) =>
      `${held} extends ${needed}: that gives its permissions, but what is derived asks for the role itself.`,
    guarded: (user: string, blocking: string, on: string, from: string) =>
      `What comes from ${from} counts only for whoever holds no role on ${on} directly, and ${user} holds ${blocking} there.`,
    noTuple: (from: string, relation: string, to: string, role: string) =>
      `Nothing is ${relation} of ${to}. ${from} would do, as would another on which the role ${role} is held.`,
    needOtherRole: (user: string, needed: string, on: string) =>
      `What it takes: grant ${user} the role ${needed} on ${on}.`,
    needMembership: (user: string, needed: string, group: string) =>
      `What it takes: make ${user} a ${needed} of the group ${group}.`,
    needGuard: (user: string, blocking: string, on: string) =>
      `What it takes: take ${blocking} on ${on} from ${user}, or grant a role there that allows it.`,
    needNoTuple: (from: string, relation: string, to: string) =>
      `What it takes: make ${from} the ${relation} of ${to}.`,
  },
  either: (roles: readonly string[]) => roles.join(' or '),
  both: (roles: readonly string[]) => roles.join(' and '),
}
