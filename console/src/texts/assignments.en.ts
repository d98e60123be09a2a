/** English texts about role assignments of a session whose grant is limited to tenants. */
export const assignmentsEn = {
  title: 'Roles',
  lead: 'Roles of users in a tenant. Your grant is limited to some tenants and roles.',
  of: (tenant: string) => `Roles in the tenant ${tenant}`,
  tenant: 'Tenant',
  none: 'No roles are assigned in this tenant.',
  user: 'User',
  userHelp: 'Key of the user, exactly as your application uses it.',
  role: 'Role',
  on: 'On',
  wholeTenant: 'the whole tenant',
  instance: (type: string) => `Resource of the type ${type}`,
  actions: 'Actions',
  what: (role: string, object: string) => `the role ${role} on ${object}`,
  assign: 'Assign role',
  assignSentence: (user: string, what: string) => `${user === '' ? 'The user' : user} receives ${what}.`,
  assigned: (user: string, what: string) => `${user} has ${what}.`,
  remove: 'Remove',
  removeOf: (what: string, user: string) => `Remove ${what} from ${user}`,
  removeSentence: (user: string, what: string) =>
    `${user} immediately loses ${what}, unless another grant gives it.`,
  removed: (user: string, what: string) => `${user} no longer has ${what}.`,
}
