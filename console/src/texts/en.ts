/**
 * English texts of the console. To add a language, add a file like this one (for example `de.ts`), a file
 * like `access.en.ts` and the other files with texts, and a line in `languages.ts`. A text with parameters is
 * a function, so that each language determines its word order. Each page has its own section.
 */
import { accessEn } from './access.en.ts'
import { accountEn } from './account.en.ts'
import { assignmentsEn } from './assignments.en.ts'
import { explanationEn } from './explanation.en.ts'
import { membersEn } from './members.en.ts'
import { modelCodeEn, modelFileEn, modelSetsEn } from './model-sets.en.ts'
import { modelGraphEn, modelMatrixEn } from './model.en.ts'
import { operationsEn } from './operations.en.ts'
import { problemsEn } from './problems.en.ts'
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
    undone: 'Change undone.',
    dismiss: 'Dismiss',
    cancel: 'Cancel',
    unreachable:
      'The service does not respond. If you submitted a change, check whether it was saved before you try again.',
    stale:
      'Another user changed this in the meantime. Your changes were not saved. Review the current version and try again.',
    defect: (message: string) => `An error occurred in the console: ${message}`,
    ends: 'Expires',
    endMoment: 'Expiration time',
    lasts: 'does not expire',
    until: (moment: string) => `until ${moment}`,
    spans: {
      never: 'never',
      hour: 'in 1 hour',
      workday: 'in 8 hours',
      day: 'in 1 day',
      week: 'in 7 days',
      month: 'in 30 days',
      moment: 'at a specific time…',
    },
    copy: 'Copy',
    notCopied: 'The browser did not allow copying. Select the text and copy it manually.',
    notFound: 'Page not found.',
    pageError: 'This page could not be displayed.',
    pageErrorHelp:
      'The service might be unavailable, or it was updated after you opened the console. Saved data is not affected.',
    reload: 'Reload',
  },
  problems: problemsEn,
  shell: {
    signIn: 'Sign in',
    signInWithKey: 'Sign in with the key',
    or: 'or',
    signOut: 'Sign out',
    key: 'API key',
    keyHelp:
      'The key stays in this tab. It is never part of an address, and is removed when you sign out or close the tab.',
    tooLowTitle: 'Not available with this key',
    tooLow: (needed: string, held: string) =>
      `This needs a key with the level ${needed} or above. The level of your key is ${held}.`,
    keyRefused: 'The service rejected this key. It might have been rotated or revoked.',
    signInLead: 'Manage permissions, and see why access is allowed or denied.',
    skip: 'Skip to content',
    leaving: {
      title: 'Leave without saving?',
      sentence: 'This page has unsaved changes. If you leave, they are lost.',
      stay: 'Stay here',
      discard: 'Discard and leave',
    },
    navigation: 'Pages',
    language: 'Language',
    theme: 'Theme',
    themes: { auto: 'system default', light: 'light', dark: 'dark' },
    environment: 'Environment',
    chooseEnvironment: 'Choose an environment',
    chooseEnvironmentLead:
      'This key can manage several environments, but it cannot check access. To check access, sign in with the key of an environment.',
    chooseEnvironmentMember: 'You can work in these environments.',
    noEnvironments: 'There are no environments yet.',
    ownEnvironment: 'environment of this key',
    live: {
      live: 'Changes by other users appear automatically.',
      connecting: 'Connecting to the change stream…',
      off: 'Reload the page to see changes by other users.',
    },
    pages: {
      questions: 'Why?',
      groups: 'Groups',
      model: 'Model',
      access: 'Access',
      audit: 'Audit log',
      keys: 'Keys',
      members: 'Members',
      assignments: 'Roles',
      operations: 'Operations',
      environments: 'Environments',
    },
  },
  questions: {
    title: 'Why?',
    lead: 'Check whether a user may perform an action on a resource, and see why.',
    user: 'User',
    action: 'Action',
    type: 'Resource type',
    key: 'Resource',
    keyHelp: 'Leave empty to check the type as a whole.',
    tenant: 'Tenant',
    tenantHelp: 'Leave empty to use the tenant of the resource.',
    attributes: 'Attributes and context',
    attributesHelp:
      'Attributes that your application sends with the check. Conditions also use stored attributes; the values that you enter here take precedence.',
    userAttributes: 'Attributes of the user',
    resourceAttributes: 'Attributes of the resource',
    context: 'Context',
    noObject: 'This is not a JSON object. Example: {"department": "sales"}.',
    required: 'This field is required.',
    ask: 'Check access',
    asking: 'Checking…',
    empty: 'Enter a user, an action and a resource. The result shows the decision and the reason for it.',
    copyLink: 'Copy link',
    linkCopied: 'Link copied. It does not contain your key; recipients sign in with their own key.',
    link: 'Link to this check',
    mayNot: {
      title: 'This key cannot check access.',
      manages:
        'It is a management key. To check access, sign in with a key of this environment. If you can manage keys, you find them under Keys.',
      elsewhere:
        'It belongs to another environment. To check access, sign in with a key of this environment.',
      keys: 'Go to keys',
    },
    allow: 'Allowed',
    deny: 'Denied',
    mayQuestion: (user: string, action: string, resource: string) => `${user} · ${action} · ${resource}`,
    tenantIs: 'Tenant',
    revision: 'Revision',
    revisionHelp: 'The decision includes all changes of the environment up to this revision:',
    askedAt: 'Checked',
    ends: 'Access expires',
    lasts: 'never',
    changed: {
      toAllow: 'The decision has changed from denied to allowed.',
      toDeny: 'The decision has changed from allowed to denied.',
    },
    followed: 'The check is repeated when the environment changes.',
    why: {
      noType: (type: string) => `There is no resource type ${type}.`,
      noAction: (type: string, action: string) => `The resource type ${type} has no action ${action}.`,
      noTenant: (tenant: string) => `There is no tenant ${tenant}.`,
      noUser: (user: string) => `There is no user ${user}.`,
      otherTenant: (resource: string, lives: string, asked: string) =>
        `${resource} belongs to the tenant ${lives}, but the check is for the tenant ${asked}.`,
      otherRole: (user: string, resource: string, action: string) =>
        `${user} has a role on ${resource}, but none that allows ${action}.`,
      otherTenantRole: (user: string, tenant: string, action: string) =>
        `${user} has a role in the tenant ${tenant}, but none that allows ${action} there.`,
      nothing: (user: string, resource: string, tenant: string) =>
        `${user} has no role on ${resource} and no role in the tenant ${tenant}.`,
      nothingInTenant: (user: string, tenant: string) => `${user} has no role in the tenant ${tenant}.`,
      rulesToo: 'No rule allows it either.',
      notStored: (resource: string) => `The resource ${resource} is not stored. Check its name.`,
      wouldAllow: (roles: string, resource: string) => `Required role on ${resource}: ${roles}.`,
      noRoleAllows: (type: string, action: string) => `No role of ${type} allows ${action}.`,
      thereAre: (names: string) => `Existing actions: ${names}.`,
    },
    path: 'Path that grants access',
    pathPicture: (from: string, to: string) =>
      `Path from ${from} to ${to}. The list next to it describes the same path.`,
    openThese: 'Open',
    open: (name: string) => `Open ${name}`,
    rules: {
      title: 'Evaluated rules',
      lead: 'A rule allows the action if both the user and the resource match. An unknown result does not match.',
      more: 'There are more rules, which are not shown.',
      allows: 'allows',
      allowsNot: 'does not allow',
      user: 'User',
      resource: 'Resource',
      roleHeld: 'The user has the role.',
      roleNotHeld: 'The user does not have the role.',
      typeHeld: 'The resource is of this type.',
      withoutConditions: 'The set has no conditions.',
      truth: { true: 'true', false: 'false', unknown: 'unknown' },
      all: 'all of these',
      any: 'any of these',
      not: 'not this',
      found: 'found',
      missing: 'no value',
    },
    parts: {
      title: 'Result by source',
      yes: 'yes',
      no: 'no',
      noRule: 'There is no rule for this action on this resource.',
      rbac: 'Roles in the tenant',
      rebac: 'Roles on the resource',
      abac: 'Rules',
      service: (reason: string) => `Message of the service: ${reason}`,
      truncated:
        'Some roles are not shown because too many paths lead to the resource. The decision is correct.',
      codes: {
        allow: 'The action is allowed.',
        no_such_resource: 'The resource type does not exist.',
        no_such_action: 'The type has no such action.',
        no_such_tenant: 'The tenant does not exist.',
        user_not_synced: 'The user does not exist.',
        no_user_roles: 'The user has no role in any tenant.',
        no_role_in_tenant: 'The user has roles in other tenants only.',
        no_graph_roles: 'The user has no role on the resource, neither directly nor derived.',
        no_permission: 'The roles of the user do not allow the action.',
        disabled: 'The environment has no rules.',
        no_matching_usersets: 'No user set of a rule matches the user.',
        no_matching_resourcesets: 'No resource set of a rule matches the resource.',
        no_matching_rules: 'No rule matches both the user and the resource.',
      } as Record<string, string>,
      otherCode: (code: string) => `The action is not allowed (${code}).`,
    },
  },
  explanation: explanationEn,
  groups: {
    title: 'Groups',
    lead: 'Members of a group, and members of the groups nested in it, receive its roles.',
    choose: 'Select a group in the tree, or search for one.',
    tree: 'Group hierarchy',
    search: 'Search groups',
    none: 'There are no groups yet.',
    noneFound: 'No groups match.',
    back: 'All groups',
    tenant: 'Tenant',
    tenantFilter: 'Tenant (empty: all)',
    inTenant: (tenant: string) => `tenant ${tenant}`,
    newGroup: 'New group',
    key: 'Key',
    keyHelp: 'Letters, digits, - and _. The key cannot be changed later.',
    newSentence: (key: string, tenant: string) =>
      `Creates the group ${key === '' ? '…' : key} in tenant ${tenant === '' ? '…' : tenant}, without members and roles.`,
    create: 'Create group',
    created: (key: string) => `The group ${key} was created.`,
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
      `Deletes ${group} with ${things(members, 'membership', 'memberships')} and ${things(roles, 'granted role', 'granted roles')}. Groups that are kept: ${things(inside, 'nested group', 'nested groups')}, ${things(around, 'parent group', 'parent groups')}. Members immediately lose the access that they have through ${group}. This cannot be undone.`,
    deleteSubmit: 'Delete permanently',
    deleted: (group: string) => `The group ${group} was deleted.`,
    parts: { members: 'Members', inside: 'Nested groups', roles: 'Roles', around: 'Parent groups' },
    partsOf: (group: string) => `Sections of ${group}`,
    whereOf: (group: string) => `Parents of ${group}`,
    atTop: (group: string) => `${group} has no parent group. Its members receive only its own roles.`,
    getNothing: (group: string) =>
      `The parent groups have no roles. Members of ${group} receive only its own roles.`,
    getThrough: (group: string) => `Roles that members of ${group} receive from parent groups:`,
    onObject: 'on',
    through: (group: string) => `through ${group}`,
    isPart: 'There are more parent groups than are shown here.',
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
    changeEnd: 'Change expiration',
    changeEndOf: (what: string) => `Change expiration: ${what}`,
    endSentence: (what: string, until: string) =>
      until === '' ? `From now on, ${what} does not expire.` : `From now on, ${what} is valid${until}.`,
    endNow: (what: string, until: string) =>
      until === '' ? `Currently, ${what} does not expire.` : `Currently, ${what} is valid${until}.`,
    gone: (what: string) => `In the meantime, ${what} was removed or expired.`,
    endGone: (what: string) =>
      `In the meantime, ${what} was removed or expired. If you change the expiration, it is created again.`,
    endChanged: (what: string, until: string) =>
      until === ''
        ? `Expiration changed: ${what} does not expire.`
        : `Expiration changed: ${what} is valid${until}.`,
    membership: (user: string) => `the membership of ${user}`,
    membershipIn: (user: string, group: string) => `the membership of ${user} in ${group}`,
    membersLead: 'Direct members of this group.',
    membersOf: (group: string) => `Members of ${group}`,
    noMembers: 'This group has no direct members.',
    addMember: 'Add member',
    addMemberSentence: (user: string, group: string, until: string) =>
      `${user === '' ? 'The user' : user} becomes a member of ${group}${until} and immediately receives its access.`,
    memberAdded: (user: string, group: string, until: string) => `${user} is a member of ${group}${until}.`,
    removeMember: (user: string) => `Remove ${user}`,
    removeFrom: (user: string, group: string) => `Remove ${user} from ${group}`,
    removeMemberSentence: (user: string, group: string) =>
      `Removes ${user} from ${group}. The user immediately loses the access that only this membership grants.`,
    memberRemoved: (user: string, group: string) => `${user} is no longer a member of ${group}.`,
    insideLead: (group: string) => `Members of these groups are also members of ${group}.`,
    insideOf: (group: string) => `Groups nested in ${group}`,
    noneInside: 'This group has no nested groups.',
    aroundLead: (group: string) => `Members of ${group} are also members of these groups.`,
    aroundOf: (group: string) => `Parent groups of ${group}`,
    noneAround: 'This group has no parent groups.',
    addGroup: 'Add group',
    putInto: 'Add to a group',
    nestSentence: (child: string, parent: string, until: string) =>
      `Nests ${child === '' ? 'the group' : child} in ${parent === '' ? 'the parent group' : parent}${until}. Members of the nested group receive the access of the parent group.`,
    nested: (child: string, parent: string, until: string) => `${child} is nested in ${parent}${until}.`,
    placeIn: (child: string, parent: string) => `the nesting of ${child} in ${parent}`,
    unnest: (child: string, parent: string) => `Remove ${child} from ${parent}`,
    unnestSentence: (child: string, parent: string) =>
      `Removes ${child} from ${parent}. Its members immediately lose the access that only ${parent} grants.`,
    unnested: (child: string, parent: string) => `${child} is no longer nested in ${parent}.`,
    move: 'Move',
    moveOf: (child: string) => `Move ${child}`,
    target: 'New parent group',
    moveSubmit: 'Move',
    moveSentence: (child: string, from: string, to: string) =>
      `Moves ${child} from ${from} to ${to === '' ? 'the new parent group' : to}. Its members lose the access that only ${from} grants, and receive the access of ${to === '' ? 'the new parent group' : to}. The expiration time does not change.`,
    moved: (child: string, from: string, to: string) => `${child} was moved from ${from} to ${to}.`,
    rolesLead: 'Roles that are granted directly to this group.',
    rolesOf: (group: string) => `Roles of ${group}`,
    noRoles: 'This group has no direct roles.',
    grantRole: 'Grant role',
    grantSubmit: 'Grant',
    grantSentence: (role: string, object: string, group: string, until: string) =>
      `Members of ${group} receive ${role === '' ? 'the role' : role} on ${object === '' ? 'the instance' : object}${until}.`,
    roleGranted: (role: string, object: string, group: string, until: string) =>
      `Members of ${group} have ${role} on ${object}${until}.`,
    roleOn: (role: string, object: string) => `the role ${role} on ${object}`,
    removeRole: (role: string, object: string) => `Remove ${role} on ${object}`,
    removeRoleSentence: (role: string, object: string, group: string) =>
      `Members of ${group} immediately lose ${role} on ${object}, unless another grant gives them this role.`,
    roleRemoved: (role: string, object: string, group: string) =>
      `The group ${group} no longer has ${role} on ${object}.`,
    userLead: 'Direct group memberships and assigned roles of this user.',
    groupsOf: 'Groups',
    inNoGroup: 'This user is not a direct member of a group.',
    heldRoles: 'Assigned roles',
    heldRolesLead:
      'Roles that the user receives through groups are not listed. The role member on a group is the membership itself.',
    holdsNothing: 'This user has no assigned roles.',
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
  account: accountEn,
  assignments: assignmentsEn,
  members: membersEn,
  operations: operationsEn,
}

export type Texts = typeof en
