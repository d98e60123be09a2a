/** What the graph of the model and the matrix of permissions say, in English. */
import { things } from './things.ts'

export const modelGraphEn = {
  title: 'Model',
  lead: 'What kinds of things there are, what can be done with them, and how roles follow from one another.',
  empty: 'There are no types yet. Add one: a kind of thing, such as document, with what can be done with it.',
  find: 'Find a type',
  withRoles: 'Show roles',
  withGroups: (groups: string) => `Show what grants to groups make (${groups})`,
  tooMany: (shown: string, total: string) =>
    `The picture shows the first ${shown} of ${total} types. The search finds the others.`,
  loaded: (shown: string, total: string) => `${shown} of ${total} types are here, more are coming…`,
  countOf: (total: string) => things(total, 'type', 'types'),
  picture: 'Types and what joins them',
  pictureHelp:
    'Arrow keys go to the neighbour in their direction, Home and End to the first and the last type. Enter chooses a type. Plus, minus and 0 change the size. The same is below as a list.',
  counts: (actions: number, roles: number) =>
    `${things(String(actions), 'action', 'actions')} · ${things(String(roles), 'role', 'roles')}`,
  extends: (roles: string) => `⊇ ${roles}`,
  heard: (name: string, key: string, counts: string, neighbours: string) =>
    `${name}${name === key ? '' : ` (${key})`}: ${counts}. ${neighbours === '' ? 'Joined to nothing.' : `Joined to ${neighbours}.`}`,
  smaller: 'Smaller',
  larger: 'Larger',
  whole: 'Show all',
  legend: {
    relation: 'relation, from the subject to the object',
    derivation: 'role that follows along a relation',
    loop: '↻ relation with itself, role that follows along it',
    keys: '⊇ has all that the other role has',
  },
  asList: 'The model as a list',
  listActions: (actions: string) => (actions === '' ? 'No actions.' : `Actions: ${actions}.`),
  listRoles: (roles: string) => (roles === '' ? 'No roles.' : `Roles: ${roles}.`),
  relationSentence: (subject: string, key: string, object: string) =>
    `${subject} may be ${key} of ${object}.`,
  derivationSentence: (
    fromRole: string,
    fromType: string,
    toRole: string,
    toType: string,
    along: string,
    isGuarded: boolean,
  ) =>
    `${fromRole} of ${fromType} gives ${toRole} of ${toType} along ${along}${isGuarded ? ', where nobody has a role on it directly' : ''}.`,
  panel: (type: string) => `The type ${type}`,
  toMatrix: 'Permissions',
  actions: 'Actions',
  roles: 'Roles',
  relations: 'Relations',
  derivations: 'Derivations',
  attributes: 'Attributes',
  actionGroups: 'Action groups',
  noActions: 'Nothing can be done with it yet.',
  noActionGroups: 'No actions are grouped under one name.',
  noRoles: 'Nobody can be given a role on it yet.',
  noPermissions: 'no permissions of its own',
  noRelations: 'It is joined to nothing.',
  noDerivations: 'No role follows from another one.',
  noAttributes: 'No attributes are declared.',
  extendsSentence: (roles: string) => `⊇ has all that ${roles} has`,
  ofGroups: 'Made by a grant to a group, and gone with the last one.',
  add: 'Add',
  remove: 'Delete',
  key: 'Key',
  keyHelp: 'What programs call it: letters, digits, hyphens and underscores. It stays as it is.',
  name: 'Name',
  addType: {
    open: 'Add type',
    title: 'Add a type',
    actionsHelp: 'Their keys, with commas between, such as read, update. More can be added later.',
    sentence: (key: string, actions: string) =>
      `Adds the type ${key === '' ? '…' : key} ${actions === '' ? 'without actions' : `with what can be done: ${actions}`}. Nobody may do anything with it until a role says so.`,
    done: (key: string) => `The type ${key} is there.`,
  },
  removeType: {
    label: (key: string) => `Delete the type ${key}`,
    title: 'Delete a type',
    sentence: (key: string) =>
      `Deletes the type ${key} with its actions, roles, relations and instances, and everything that was granted on them. There is no way back.`,
    done: (key: string) => `The type ${key} is gone.`,
  },
  addAction: {
    open: 'Add action',
    title: (type: string) => `Add an action of ${type}`,
    sentence: (key: string, type: string) =>
      `Adds ${key === '' ? '…' : key} to what can be done with ${type}. Nobody may do it until a role says so.`,
    done: (key: string, type: string) => `${key} can be done with ${type} now.`,
  },
  editAction: {
    label: (key: string) => `Edit the action ${key}`,
    title: (key: string, type: string) => `Edit the action ${key} of ${type}`,
    sentence: (key: string, type: string) =>
      `Changes how the action ${key} of ${type} is called and described. Who may do it stays as it is.`,
    done: (key: string, type: string) => `The action ${key} of ${type} is changed.`,
  },
  removeAction: {
    label: (key: string) => `Delete the action ${key}`,
    title: 'Delete an action',
    sentence: (key: string, type: string) =>
      `Deletes the action ${key} of ${type}, and takes it from every role that has it. There is no way back.`,
    done: (key: string, type: string) => `The action ${key} of ${type} is gone.`,
  },
  addActionGroup: {
    open: 'Add action group',
    title: (type: string) => `Add an action group of ${type}`,
    actions: 'Stands for',
    sentence: (key: string, type: string, actions: string) =>
      `${key === '' ? '…' : key} then stands for ${actions === '' ? 'no action yet' : actions} in programs that read the model of ${type}. Who may do what stays as it is.`,
    done: (key: string, type: string) => `The action group ${key} of ${type} is there.`,
  },
  editActionGroup: {
    label: (key: string) => `Edit the action group ${key}`,
    title: (key: string, type: string) => `Edit the action group ${key} of ${type}`,
    sentence: (key: string, actions: string) =>
      `${key} then stands for ${actions === '' ? 'no action' : actions}. Who may do what stays as it is.`,
    done: (key: string, type: string) => `The action group ${key} of ${type} is changed.`,
  },
  removeActionGroup: {
    label: (key: string) => `Delete the action group ${key}`,
    title: 'Delete an action group',
    sentence: (key: string, type: string) =>
      `Deletes the action group ${key} of ${type}. Its actions stay, and so does who may do what.`,
    done: (key: string, type: string) => `The action group ${key} of ${type} is gone.`,
  },
  addRole: {
    open: 'Add role',
    title: (type: string) => `Add a role of ${type}`,
    tenantTitle: 'Add a tenant role',
    may: 'Who has it may',
    sentence: (key: string, type: string, actions: string) =>
      `Adds the role ${key === '' ? '…' : key} of ${type}, which ${actions === '' ? 'may do nothing yet' : `may ${actions}`}. Nobody has it until it is granted.`,
    tenantSentence: (key: string) =>
      `Adds the tenant role ${key === '' ? '…' : key}, which may do nothing yet. Nobody has it until it is granted in a tenant.`,
    done: (key: string) => `The role ${key} is there.`,
  },
  editRole: {
    label: (key: string) => `Edit the role ${key}`,
    title: (key: string, type: string) => `Edit the role ${key} of ${type}`,
    tenantTitle: (key: string) => `Edit the tenant role ${key}`,
    sentence: (key: string) =>
      `Changes how the role ${key} is called and described. What who has it may do stays as it is.`,
    done: (key: string) => `The role ${key} is changed.`,
  },
  guard: {
    open: 'Guard…',
    label: (role: string) => `Guard of ${role}`,
    title: (role: string, type: string) => `When ${role} of ${type} follows from other roles`,
    check: (type: string) => `Only where nobody has a role on the ${type} directly`,
    guards: (role: string, type: string) =>
      `Who is ${role} of a ${type} by another role is it then only where nobody has a role on it directly.`,
    frees: (role: string, type: string) =>
      `Who is ${role} of a ${type} by another role is it then whoever has a role on it, unless a derivation itself says otherwise.`,
    done: (role: string, type: string) => `When ${role} of ${type} follows is changed.`,
    sentence: (type: string) => `Follows only where nobody has a role on the ${type} directly.`,
    on: 'only where nobody has a role directly',
    off: 'everywhere',
  },
  removeRole: {
    label: (key: string) => `Delete the role ${key}`,
    title: 'Delete a role',
    sentence: (key: string, type: string) =>
      `Deletes the role ${key} of ${type}. Everybody who was granted it loses it, and what follows from it. There is no way back.`,
    done: (key: string, type: string) => `The role ${key} of ${type} is gone.`,
    tenantSentence: (key: string) =>
      `Deletes the tenant role ${key}. Everybody who was granted it in a tenant loses it. There is no way back.`,
    tenantDone: (key: string) => `The tenant role ${key} is gone.`,
  },
  parents: {
    open: 'Extends…',
    label: (role: string) => `What ${role} extends`,
    title: (role: string) => `What ${role} extends`,
    choose: (role: string) => `Role that ${role} extends`,
    isNow: 'extended now',
    adds: (role: string, parent: string) => `Who has ${role} may then do all that ${parent} may, too.`,
    removes: (role: string, parent: string) =>
      `Who has ${role} may then no longer do what only ${parent} may.`,
    added: (role: string, parent: string) => `${role} has all that ${parent} has now.`,
    removed: (role: string, parent: string) => `${role} does not extend ${parent} any more.`,
  },
  addRelation: {
    open: 'Add relation',
    title: (type: string) => `Add a relation to ${type}`,
    keyHelp: 'What the other thing is to this one, such as parent or owner.',
    subject: 'Type of the other thing',
    subjectHelp: (type: string) => `What may be that of ${type}, such as folder.`,
    sentence: (key: string, subject: string, type: string) =>
      `${subject === '' ? '…' : subject} may then be ${key === '' ? '…' : key} of ${type}. Nobody gains anything by it until a role follows along it.`,
    done: (key: string, subject: string, type: string) => `${subject} may be ${key} of ${type} now.`,
  },
  removeRelation: {
    label: (key: string) => `Delete the relation ${key}`,
    title: 'Delete a relation',
    sentence: (key: string, subject: string, object: string) =>
      `Deletes the relation ${key} from ${subject} to ${object}, with everything that is joined by it, and the roles that follow along it. There is no way back.`,
    done: (key: string, object: string) => `The relation ${key} to ${object} is gone.`,
  },
  addDerivation: {
    open: 'Add derivation',
    title: (type: string) => `Derive a role of ${type}`,
    along: 'Along the relation',
    fromRole: (type: string) => `Who has this role of ${type}`,
    toRole: (type: string) => `has this role of ${type}`,
    guard: (type: string) => `Only where nobody has a role on the ${type} directly`,
    unfinished: 'Choose a relation and a role at either end of it.',
    sentence: (
      fromRole: string,
      fromType: string,
      toRole: string,
      toType: string,
      along: string,
      isGuarded: boolean,
    ) =>
      `Everybody who is ${fromRole} of ${fromType} is then ${toRole} of each ${toType} that it is ${along} of${isGuarded ? ' and that nobody has a role on directly' : ''}.`,
    done: (fromRole: string, fromType: string, toRole: string, toType: string) =>
      `${fromRole} of ${fromType} gives ${toRole} of ${toType} now.`,
  },
  removeDerivation: {
    label: (sentence: string) => `Delete: ${sentence}`,
    title: 'Delete a derivation',
    sentence: (fromRole: string, fromType: string, toRole: string, toType: string, along: string) =>
      `Who is ${fromRole} of ${fromType} is then no longer ${toRole} of each ${toType} that it is ${along} of. Who was granted ${toRole} directly keeps it.`,
    done: (fromRole: string, fromType: string, toRole: string, toType: string) =>
      `${fromRole} of ${fromType} no longer gives ${toRole} of ${toType}.`,
  },
  addAttribute: {
    open: 'Add attribute',
    title: (type: string) => `Declare an attribute of ${type}`,
    keyHelp: 'What conditions and programs call it, such as size or stage.',
    sentence: (key: string, type: string) =>
      `Says that a ${type} has ${key === '' ? '…' : key}, so that mistakes in conditions about it are noticed. What is decided stays as it is.`,
    done: (key: string, type: string) => `The attribute ${key} of ${type} is declared.`,
  },
  editAttribute: {
    label: (key: string) => `Edit the attribute ${key}`,
    title: (key: string, type: string) => `Edit the attribute ${key} of ${type}`,
    sentence: (key: string) => `Changes what is said of ${key}. What is decided stays as it is.`,
    done: (key: string, type: string) => `The attribute ${key} of ${type} is changed.`,
  },
  removeAttribute: {
    label: (key: string) => `Delete the attribute ${key}`,
    title: 'Delete an attribute',
    sentence: (key: string, type: string) =>
      `No longer says that a ${type} has ${key}. What things have stays, and so does what is decided.`,
    done: (key: string, type: string) => `The attribute ${key} of ${type} is no longer declared.`,
  },
  kind: 'Holds',
  kinds: {
    string: 'text',
    number: 'number',
    bool: 'yes or no',
    time: 'time',
    array: 'list',
    object: 'object',
    object_array: 'list of objects',
    json: 'anything',
  },
  editType: {
    label: (type: string) => `Edit the type ${type}`,
    title: (type: string) => `Edit ${type}`,
    sentence: (type: string) =>
      `Changes how ${type} is called and described. What is allowed stays as it is.`,
    done: (type: string) => `${type} is changed.`,
  },
  edit: {
    open: 'Edit',
    description: 'Description',
    attributes: 'Attributes',
    attributesHelp: 'What your programs keep with it, as JSON: {"color": "green"}. Empty: nothing.',
    noObject: 'This is no JSON object.',
    save: 'Save',
    now: (value: string) => `There now: ${value === '' ? '(nothing)' : value}`,
  },
}

export const modelMatrixEn = {
  title: 'Permissions',
  lead: 'Which role may do what. Press a cell to give a permission or to take it.',
  of: 'Roles of',
  tenantRoles: 'Tenants, on all types',
  tenantNote:
    'A tenant role may do this with everything of its tenant. Types are rows here, tenant roles are columns.',
  typeNote: (type: string) => `What a role on ${type} lets one do with it.`,
  truncated: (shown: string, total: string) =>
    `The first ${shown} of ${total} types are to choose from; the search below finds the others.`,
  table: (type: string) => `Permissions of the roles of ${type}`,
  tenantTable: 'Permissions of tenant roles',
  role: 'Role',
  action: 'Action',
  noRoles: 'There are no roles yet.',
  noActions: 'There are no actions yet.',
  noTypes: 'No type matches.',
  moreRoles: 'Show more roles',
  tenantRoleList: 'The tenant roles',
  moreTypes: 'Show more types',
  findTypes: 'Find types',
  legend: { direct: 'given', inherited: 'through a role that it extends', none: 'not given' },
  direct: (role: string, permission: string) => `${role} may ${permission}`,
  both: (role: string, permission: string, through: string) =>
    `${role} may ${permission}, and may through ${through}, too`,
  inherited: (role: string, permission: string, through: string) =>
    `${role} may ${permission} through ${through}`,
  none: (role: string, permission: string) => `${role} may not ${permission}`,
  gives: (role: string, permission: string) => `Pressing lets everybody who has ${role} ${permission}.`,
  givesToo: (role: string, permission: string, through: string) =>
    `Pressing gives ${permission} to ${role} itself. It has it through ${through} already.`,
  takes: (role: string, permission: string) =>
    `Pressing takes ${permission} from everybody who has it by ${role}.`,
  takesNothing: (role: string, permission: string, through: string) =>
    `Pressing takes ${permission} from ${role} itself. It keeps it through ${through}.`,
  given: (role: string, permission: string) => `${role} may ${permission} now.`,
  taken: (role: string, permission: string) => `${permission} is taken from ${role}.`,
  hint: 'Arrow keys move from cell to cell, space gives or takes.',
}
