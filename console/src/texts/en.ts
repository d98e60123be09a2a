/**
 * What the console says, in English. Another language is a file like this one (`de.ts`) and its line in `languages.ts`. Texts with a gap
 * are functions, so that each language puts the words in its own order. A section a page.
 */

const things = (count: string, one: string, many: string): string => `${count} ${count === '1' ? one : many}`

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
    unreachable: 'The service does not answer. Nothing was changed; try again in a moment.',
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
    copied: 'Copied',
    notFound: 'There is no such page.',
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
    },
  },
  questions: {},
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
    graph: {},
    matrix: {},
    sets: {},
    file: {},
  },
  access: {},
  operations: {},
}

export type Texts = typeof en
export { things }
