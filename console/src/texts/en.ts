/**
 * What the console says, in English. Another language is a file like this one (`de.ts`), one like `access.en.ts`,
 * and its line in `languages.ts`. Texts with a gap
 * are functions, so that each language puts the words in its own order. A section a page.
 */
import { accessEn } from './access.en.ts'
import { modelCodeEn, modelFileEn, modelSetsEn } from './model-sets.en.ts'
import { modelGraphEn, modelMatrixEn } from './model.en.ts'
import { operationsEn } from './operations.en.ts'
import { things } from './things.ts'

export const en = {
  parts: {
    search: 'Search',
    more: 'Show more',
    shown: (shown: string) => `${shown} shown`,
    shownOf: (shown: string, total: string) => `${shown} of ${total}`,
    loading: 'Loading',
    messages: 'Messages',
    undo: 'Undo',
    undone: 'Undone: it is as it was.',
    dismiss: 'Dismiss',
    cancel: 'Cancel',
    unreachable:
      'The service does not answer. If you were changing something, look whether it was done before you try again.',
    stale:
      'Somebody else changed this meanwhile. Nothing of yours was written: look at what is there now, and try again.',
    defect: (message: string) => `Something went wrong in the console: ${message}`,
    ends: 'Ends',
    endMoment: 'On',
    lasts: 'lasts',
    until: (moment: string) => `until ${moment}`,
    spans: {
      never: 'never',
      hour: 'in an hour',
      workday: 'in eight hours',
      day: 'in a day',
      week: 'in a week',
      month: 'in 30 days',
      moment: 'at a moment…',
    },
    copy: 'Copy',
    notCopied: 'The browser does not let this page copy. Select the text and copy it yourself.',
    notFound: 'There is no such page.',
    mishap: 'This page could not be shown.',
    mishapHelp:
      'The service may be away for a moment, or may have been updated since you opened the console. Nothing that was saved is lost.',
    loadAnew: 'Load anew',
  },
  shell: {
    signIn: 'Sign in',
    signOut: 'Sign out',
    key: 'API key',
    keyHelp:
      'It stays in this tab: it is in no address, and is forgotten when you sign out or close the tab.',
    keyRefused: 'The service does not take this key. It may have been rotated or revoked.',
    signInLead: 'Who may do what, why, and until when.',
    skip: 'To the content',
    navigation: 'Pages',
    language: 'Language',
    theme: 'Colours',
    themes: { auto: 'as the system', light: 'light', dark: 'dark' },
    environment: 'Environment',
    chooseEnvironment: 'Choose an environment',
    chooseEnvironmentLead:
      'This key may manage several. It manages, and does not decide: to ask whether something is allowed, sign in with the key of an environment.',
    noEnvironments: 'There is none yet.',
    ownEnvironment: 'the environment of this key',
    live: {
      live: 'Changes of others appear by themselves.',
      connecting: 'Looking for changes of others…',
      off: 'Changes of others appear when you reload.',
    },
    pages: {
      questions: 'Why?',
      groups: 'Groups',
      model: 'Model',
      access: 'Access',
      audit: 'Audit log',
      keys: 'Keys',
      operations: 'Operations',
      environments: 'Environments',
    },
  },
  questions: {
    title: 'Why?',
    lead: 'May a user do something with a resource, and why? Ask as your program does.',
    user: 'User',
    action: 'Action',
    type: 'Resource type',
    key: 'Resource',
    keyHelp: 'Empty: the type as a whole.',
    tenant: 'Tenant',
    tenantHelp: 'Empty: the tenant of the resource.',
    attributes: 'Attributes and context',
    attributesHelp:
      'What your program sends along with the question. Conditions see it beside what is stored; what is sent counts first.',
    userAttributes: 'Attributes of the user',
    resourceAttributes: 'Attributes of the resource',
    context: 'Context',
    noObject: 'This is no JSON object. It has to look like {"department": "sales"}.',
    required: 'This has to be said.',
    ask: 'Ask',
    asking: 'Asking…',
    empty: 'Say who wants to do what with which resource. The answer comes with the way that leads to it.',
    copyLink: 'Copy link',
    linkCopied: 'The link is copied. Whoever opens it signs in with a key of their own.',
    link: 'Link to this question',
    mayNot: {
      title: 'This key may not decide.',
      manages:
        'It manages, and so it must not ask for decisions. Sign in with a key of this environment to ask; who may make keys finds it under Keys.',
      elsewhere: 'It does not belong to this environment. Sign in with a key of this environment to ask.',
      keys: 'To the keys',
    },
    allow: 'Allowed',
    deny: 'Denied',
    mayQuestion: (user: string, action: string, resource: string) => `${user} · ${action} · ${resource}`,
    tenantIs: 'Tenant',
    revision: 'State',
    revisionHelp: 'The revision of the environment that the answer knows at least.',
    askedAt: 'Asked',
    ends: 'This access ends',
    lasts: 'never, as it stands',
    changed: {
      toAllow: 'This has changed: it was denied until now.',
      toDeny: 'This has changed: it was allowed until now.',
    },
    followed: 'It is asked again when something changes here.',
    why: {
      byTenantRole: (user: string, role: string, tenant: string, action: string, type: string) =>
        `${user} holds the role ${role} in the tenant ${tenant}, and there it may ${action} every ${type}.`,
      byRole: (user: string, role: string, resource: string, action: string) =>
        `${user} holds the role ${role} on ${resource}, and that may ${action}.`,
      byRoleFrom: (user: string, role: string, resource: string, action: string, from: string) =>
        `By way of ${from}, ${user} holds the role ${role} on ${resource}, and that may ${action}.`,
      byRoleUntold: (user: string, resource: string) =>
        `${user} holds a role on ${resource} that allows it. So much leads there that how it is held is not told.`,
      byRule: (userSet: string, resourceSet: string) => `A rule allows it: ${userSet} on ${resourceSet}.`,
      byRuleUntold: 'A rule allows it.',
      noType: (type: string) => `There is no resource type ${type}.`,
      noAction: (type: string, action: string) => `The resource type ${type} has no action ${action}.`,
      noTenant: (tenant: string) => `There is no tenant ${tenant}.`,
      noUser: (user: string) => `There is no user ${user}.`,
      otherTenant: (resource: string, lives: string, asked: string) =>
        `${resource} belongs to the tenant ${lives}, and the question is about ${asked}.`,
      otherRole: (user: string, resource: string, action: string) =>
        `${user} holds a role on ${resource}, but none that may ${action}.`,
      otherTenantRole: (user: string, tenant: string, action: string) =>
        `${user} holds a role in the tenant ${tenant}, but none that may ${action} there.`,
      nothing: (user: string, resource: string, tenant: string) =>
        `${user} holds no role on ${resource}, and none in the tenant ${tenant}.`,
      nothingInTenant: (user: string, tenant: string) => `${user} holds no role in the tenant ${tenant}.`,
      rulesToo: 'No rule allows it either.',
      notStored: (resource: string) => `Nothing is stored as ${resource}: perhaps its name is another.`,
      wouldAllow: (roles: string, resource: string) => `Would allow it on ${resource}: ${roles}.`,
      noRoleAllows: (type: string, action: string) => `No role of ${type} may ${action}.`,
      thereAre: (names: string) => `There are: ${names}.`,
    },
    path: 'How it comes about',
    pathPicture: (from: string, to: string) =>
      `The way from ${from} to ${to}. It is told in words beside it.`,
    openThese: 'Open',
    open: (name: string) => `Open ${name}`,
    kinds: {
      user: 'user',
      tenant: 'tenant',
      group: 'group',
      role: 'role',
      userSet: 'user set',
      resourceSet: 'resource set',
      every: 'every',
    },
    way: {
      holds: 'holds',
      may: (action: string) => `may ${action}`,
      matches: 'matches',
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
      holdsOn: (user: string, role: string, on: string) => `${user} holds the role ${role} on ${on}.`,
      holdsIn: (user: string, role: string, tenant: string) =>
        `${user} holds the role ${role} in the tenant ${tenant}.`,
      holdsRole: (user: string, role: string) => `${user} holds the role ${role}.`,
      isOfSet: (name: string, set: string) => `${name} fulfils the conditions of ${set}.`,
      isOf: (name: string) => `${name} is one of them.`,
      ruleMay: (users: string, action: string, resources: string) =>
        `A rule says that ${users} may ${action} on ${resources}.`,
      roleMay: (role: string, action: string, resource: string, tenant: string) =>
        `${role} may ${action} ${resource}, which belongs to the tenant ${tenant}.`,
      groupHolds: (group: string, from: string, role: string, on: string) =>
        `${group} is granted ${role} on ${on}. So whoever is ${from} of ${group} is ${role} of ${on}.`,
      groupIsIn: (from: string, to: string, held: string, role: string) =>
        `${from} is in ${to}. So whoever is ${held} of ${from} is ${role} of ${to}.`,
      derives: (from: string, relation: string, to: string, held: string, role: string) =>
        `${from} is ${relation} of ${to}. So whoever is ${held} of ${from} is ${role} of ${to}.`,
    },
    near: {
      title: 'What is nearest to an allow',
      lead: 'Each of these would have allowed it, but for one thing.',
      more: 'There are more, or may be.',
      onlyMore: 'More leads to the resource than was looked at, so it is not told what is nearest.',
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
    rules: {
      title: 'What rules say',
      lead: 'A rule allows where the user and the resource both match. What is unknown does not match.',
      more: 'There are more rules, which are not shown.',
      allows: 'allows',
      allowsNot: 'does not allow',
      user: 'The user',
      resource: 'The resource',
      roleHeld: 'The role is held.',
      roleNotHeld: 'The role is not held.',
      typeHeld: 'It is of this type.',
      withoutConditions: 'It has no conditions.',
      truth: { true: 'true', false: 'false', unknown: 'unknown' },
      all: 'all of these',
      any: 'any of these',
      not: 'not this',
      found: 'found',
      missing: 'nothing',
    },
    parts: {
      title: 'Part by part',
      yes: 'yes',
      no: 'no',
      noRule: 'No rule is asked about this action on this resource.',
      rbac: 'Roles in the tenant',
      rebac: 'Roles on the resource',
      abac: 'Rules',
      service: (reason: string) => `The service says: ${reason}`,
      truncated:
        'So much leads to the resource that perhaps not every role is told. The decision is right all the same.',
      codes: {
        allow: 'They allow it.',
        no_such_resource: 'Such a resource type is not known.',
        no_such_action: 'The type has no such action.',
        no_such_tenant: 'Such a tenant is not known.',
        user_not_synced: 'Such a user is not known.',
        no_user_roles: 'The user holds no role in any tenant.',
        no_role_in_tenant: 'The user holds roles in other tenants only.',
        no_graph_roles: 'The user holds no role on it, neither directly nor by way of anything.',
        no_permission: 'What the user holds does not allow it.',
        disabled: 'There are no rules in this environment.',
        no_matching_usersets: 'No user set of a rule matches the user.',
        no_matching_resourcesets: 'No resource set of a rule matches the resource.',
        no_matching_rules: 'No rule matches user and resource both.',
      } as Record<string, string>,
      otherCode: (code: string) => `They do not allow it (${code}).`,
    },
    either: (roles: readonly string[]) => roles.join(' or '),
    both: (roles: readonly string[]) => roles.join(' and '),
  },
  groups: {
    title: 'Groups',
    lead: 'What a group is granted, its members get, and so do the members of the groups in it.',
    choose: 'Choose a group in the tree, or search for one.',
    tree: 'Groups in groups',
    search: 'Search groups',
    none: 'There is no group yet.',
    noneFound: 'No group matches.',
    back: 'All groups',
    tenant: 'Tenant',
    tenantFilter: 'Tenant (empty: all)',
    inTenant: (tenant: string) => `tenant ${tenant}`,
    newGroup: 'New group',
    key: 'Key',
    keyHelp: 'Letters, digits, - and _. It cannot be changed later.',
    newSentence: (key: string, tenant: string) =>
      `Makes the group ${key === '' ? '…' : key} in tenant ${tenant === '' ? '…' : tenant}, without members and roles.`,
    create: 'Make group',
    created: (key: string) => `The group ${key} is made.`,
    delete: 'Delete…',
    deleteOf: (group: string) => `Delete ${group}`,
    deleteSentence: (
      group: string,
      {
        members,
        roles,
        inside,
        around,
      }: {
        readonly members: string
        readonly roles: string
        readonly inside: string
        readonly around: string
      },
    ) =>
      `Deletes ${group}. With it go ${things(members, 'membership', 'memberships')} and ${things(roles, 'granted role', 'granted roles')}; ${things(inside, 'group', 'groups')} in it and ${things(around, 'group', 'groups')} around it stay, without it. Its members lose at once what they had by it. This cannot be undone.`,
    deleteSubmit: 'Delete for good',
    deleted: (group: string) => `The group ${group} is deleted.`,
    parts: { members: 'Members', inside: 'Groups inside', roles: 'Roles', around: 'Is in' },
    partsOf: (group: string) => `What there is of ${group}`,
    whereOf: (group: string) => `Where ${group} is`,
    atTop: (group: string) => `${group} is in no other group: its members get what it is granted itself.`,
    getNothing: (group: string) =>
      `The groups above are granted nothing: members of ${group} get what it is granted itself.`,
    getThrough: (group: string) => `Through the groups above, members of ${group} also get:`,
    onObject: 'on',
    through: (group: string) => `by ${group}`,
    isPart: 'There is more above than is shown here.',
    user: 'User',
    group: 'Group',
    role: 'Role',
    type: 'Type',
    instance: 'Instance',
    on: 'On',
    actions: 'Actions',
    add: 'Add',
    remove: 'Remove',
    change: 'Change',
    changeEnd: 'Change end',
    changeEndOf: (what: string) => `Change end: ${what}`,
    endSentence: (what: string, until: string) =>
      until === ''
        ? `From now on ${what} lasts.`
        : `From now on ${what} lasts${until}; then it ends by itself.`,
    endNow: (what: string, until: string) => `By now ${what} lasts${until}.`,
    endGone: (what: string) => `By now ${what} is gone: a change of its end makes it anew.`,
    endChanged: (what: string, until: string) => `Now ${what} lasts${until}.`,
    membership: (user: string) => `the membership of ${user}`,
    membershipIn: (user: string, group: string) => `the membership of ${user} in ${group}`,
    membersLead: 'Users who are in this group themselves.',
    membersOf: (group: string) => `Members of ${group}`,
    noMembers: 'Nobody is in this group itself.',
    addMember: 'Add member',
    addMemberSentence: (user: string, group: string, until: string) =>
      `${user === '' ? 'The user' : user} becomes a member of ${group}${until}, and gets at once what its members get.`,
    memberAdded: (user: string, group: string, until: string) => `${user} is a member of ${group}${until}.`,
    removeMember: (user: string) => `Remove ${user}`,
    removeFrom: (user: string, group: string) => `Remove ${user} from ${group}`,
    removeMemberSentence: (user: string, group: string) =>
      `${user} is no member of ${group} any more, and loses at once what only this membership gave.`,
    memberRemoved: (user: string, group: string) => `${user} is no member of ${group} any more.`,
    insideLead: (group: string) => `Their members are members of ${group}, too.`,
    insideOf: (group: string) => `Groups in ${group}`,
    noneInside: 'No group is in this one.',
    aroundLead: (group: string) => `Members of ${group} are members of these groups, too.`,
    aroundOf: (group: string) => `Groups that ${group} is in`,
    noneAround: 'This group is in no other one.',
    addGroup: 'Add group',
    putInto: 'Put into a group',
    nestSentence: (child: string, parent: string, until: string) =>
      `${child === '' ? 'The group' : child} comes into ${parent === '' ? 'the group' : parent}${until}: members of the first get what members of the second get.`,
    nested: (child: string, parent: string, until: string) => `${child} is in ${parent}${until}.`,
    placeIn: (child: string, parent: string) => `the place of ${child} in ${parent}`,
    unnest: (child: string, parent: string) => `Remove ${child} from ${parent}`,
    unnestSentence: (child: string, parent: string) =>
      `${child} is not in ${parent} any more. Its members lose at once what only ${parent} gave them.`,
    unnested: (child: string, parent: string) => `${child} is not in ${parent} any more.`,
    move: 'Move',
    moveOf: (child: string) => `Move ${child}`,
    target: 'Into group',
    moveSubmit: 'Move',
    moveSentence: (child: string, from: string, to: string) =>
      `${child} goes out of ${from} and into ${to === '' ? 'the other group' : to}: its members lose what only ${from} gave them, and get what ${to === '' ? 'the other' : to} gives. When it was to end stays.`,
    moved: (child: string, from: string, to: string) => `${child} is in ${to} now, and no more in ${from}.`,
    rolesLead: 'Roles that this group is granted itself.',
    rolesOf: (group: string) => `Roles of ${group}`,
    noRoles: 'This group is granted nothing itself.',
    grantRole: 'Grant role',
    grantSubmit: 'Grant',
    grantSentence: (role: string, object: string, group: string, until: string) =>
      `Members of ${group} get ${role === '' ? 'the role' : role} on ${object === '' ? 'the instance' : object}${until}.`,
    roleGranted: (role: string, object: string, group: string, until: string) =>
      `Members of ${group} have ${role} on ${object}${until}.`,
    roleOn: (role: string, object: string) => `the role ${role} on ${object}`,
    removeRole: (role: string, object: string) => `Remove ${role} on ${object}`,
    removeRoleSentence: (role: string, object: string, group: string) =>
      `Members of ${group} lose ${role} on ${object} at once, where nothing else gives it to them.`,
    roleRemoved: (role: string, object: string, group: string) =>
      `Members of ${group} do not have ${role} on ${object} by it any more.`,
    userLead: 'The groups this user is in itself, and all that it is assigned.',
    groupsOf: 'Groups',
    inNoGroup: 'This user is in no group.',
    heldRoles: 'Assigned roles',
    heldRolesLead: 'Without what groups give. The role member on a group is the membership itself.',
    holdsNothing: 'No role is assigned to this user.',
  },
  model: {
    tabs: {
      label: 'Views of the model',
      graph: 'Graph',
      matrix: 'Permissions',
      sets: 'Condition sets',
      file: 'Model file',
    },
    graph: modelGraphEn,
    matrix: modelMatrixEn,
    code: modelCodeEn,
    sets: modelSetsEn,
    file: modelFileEn,
  },
  access: accessEn,
  operations: operationsEn,
}

export type Texts = typeof en
