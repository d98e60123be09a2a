/** English texts that explain why an action is allowed or nearly allowed. Several pages share them. */

export interface DerivedEdge {
  readonly from: string
  readonly relation: string
  readonly to: string
  /** Role on `from`. */
  readonly held: string
  /** Role on `to` that is derived from `held`. */
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
      `${user} has the role ${role} in the tenant ${tenant}. This role allows ${action} on every ${type} there.`,
    byRole: (user: string, role: string, resource: string, action: string) =>
      `${user} has the role ${role} on ${resource}. This role allows ${action}.`,
    byRoleFrom: (user: string, role: string, resource: string, action: string, from: string) =>
      `${user} has the role ${role} on ${resource} through ${from}. This role allows ${action}.`,
    byRoleWithoutPath: (user: string, resource: string) =>
      `${user} has a role on ${resource} that allows it. The path is not shown because too many paths lead to the resource.`,
    byUnnamedRule: 'A rule allows it.',
  },
  path: {
    holds: 'has',
    may: (action: string) => `may ${action}`,
    contains: 'contains',
    isType: 'is the type of',
    needs: (roles: string) => `needs ${roles}`,
    holdsOnly: (roles: string) => `has ${roles}`,
    granted: 'is granted',
    isIn: 'is in',
    becomes: (from: string, to: string) => `${from} → ${to}`,
    guarded: 'if no direct role',
    blocked: (roles: string) => `without effect because of the direct role ${roles}`,
    missing: 'missing',
    memberOf: (user: string, group: string) => `${user} is a member of the group ${group}.`,
    holdsOn: (user: string, role: string, on: string) => `${user} has the role ${role} on ${on}.`,
    holdsIn: (user: string, role: string, tenant: string) =>
      `${user} has the role ${role} in the tenant ${tenant}.`,
    holdsRole: (user: string, role: string) => `${user} has the role ${role}.`,
    isInUserSet: (user: string, set: string) => `${user} is in the user set ${set}.`,
    isInResourceSet: (name: string, set: string) => `${name} is in the resource set ${set}.`,
    isOfType: (name: string, type: string) => `${name} is of the type ${type}.`,
    roleMay: (role: string, action: string, resource: string, tenant: string) =>
      `${role} allows ${action} on ${resource}, which belongs to the tenant ${tenant}.`,
    groupIsIn: (inner: string, outer: string) =>
      `The group ${inner} is nested in the group ${outer}, so its members are also members of ${outer}.`,
    groupHolds: (group: string, role: string, on: string) =>
      `Members of the group ${group} have the role ${role} on ${on}.`,
    derives: ({ from, relation, to, held, role }: DerivedEdge) =>
      `${from} is ${relation} of ${to}, so users with the role ${held} on ${from} have the role ${role} on ${to}.`,
  },
  rule: {
    may: (who: string, action: string, what: string) => `A rule allows ${who} to ${action} ${what}.`,
    who: {
      set: (set: string) => `users in the user set ${set}`,
      role: (role: string) => `users with the role ${role}`,
    },
    what: {
      set: (set: string) => `resources in the resource set ${set}`,
      type: (type: string) => `every ${type}`,
    },
  },
  near: {
    title: 'Near misses',
    lead: 'Each of these paths would allow the action if one condition were met.',
    more: 'There might be more near misses.',
    onlyMore: 'Near misses are not shown because too many paths lead to the resource.',
    otherRoleTitle: (needed: string, on: string) => `The role ${needed} on ${on}`,
    guardTitle: (on: string) => `No direct role on ${on}`,
    noTupleTitle: (relation: string, on: string) => `A relation ${relation} to ${on}`,
    otherRole: (user: string, held: string, needed: string, on: string) =>
      `${user} needs the role ${needed} on ${on}, but has ${held}.`,
    extending: (held: string, needed: string) =>
      `${held} extends ${needed} and includes its permissions, but the derivation requires the role ${needed} itself.`,
    guarded: (user: string, blocking: string, on: string, from: string) =>
      `The role that is derived from ${from} is valid only for users without a direct role on ${on}, and ${user} has ${blocking} there.`,
    noTuple: (from: string, relation: string, to: string, role: string) =>
      `No resource is ${relation} of ${to}. The user has the role ${role} on ${from}, which could be this resource.`,
    needOtherRole: (user: string, needed: string, on: string) =>
      `To allow the action, grant ${user} the role ${needed} on ${on}.`,
    needMembership: (user: string, needed: string, group: string) =>
      `To allow the action, make ${user} a ${needed} of the group ${group}.`,
    needGuard: (user: string, blocking: string, on: string) =>
      `To allow the action, revoke ${blocking} on ${on} from ${user}, or grant a role there that allows it.`,
    needNoTuple: (from: string, relation: string, to: string) =>
      `To allow the action, make ${from} the ${relation} of ${to}.`,
  },
  either: (roles: readonly string[]) => roles.join(' or '),
  both: (roles: readonly string[]) => roles.join(' and '),
}
