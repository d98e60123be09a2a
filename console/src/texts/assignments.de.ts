/** Deutsche Texte zu Rollenzuweisungen einer Sitzung, deren Berechtigung auf Mandanten begrenzt ist. */
import type { assignmentsEn } from './assignments.en.ts'

export const assignmentsDe: typeof assignmentsEn = {
  title: 'Rollen',
  lead: 'Rollen von Benutzern in einem Mandanten. Ihre Berechtigung ist auf einige Mandanten und Rollen begrenzt.',
  of: tenant => `Rollen im Mandanten ${tenant}`,
  tenant: 'Mandant',
  none: 'In diesem Mandanten sind keine Rollen zugewiesen.',
  user: 'Benutzer',
  userHelp: 'Schlüssel des Benutzers genau so, wie Ihre Anwendung ihn verwendet.',
  role: 'Rolle',
  on: 'Für',
  wholeTenant: 'den ganzen Mandanten',
  instance: type => `Ressource des Typs ${type}`,
  actions: 'Aktionen',
  what: (role, object) => `die Rolle ${role} für ${object}`,
  assign: 'Rolle zuweisen',
  assignSentence: (user, what) => `${user === '' ? 'Der Benutzer' : user} erhält ${what}.`,
  assigned: (user, what) => `${user} hat ${what}.`,
  remove: 'Entziehen',
  removeOf: (what, user) => `${user} ${what} entziehen`,
  removeSentence: (user, what) =>
    `${user} verliert sofort ${what}, sofern keine andere Berechtigung sie verleiht.`,
  removed: (user, what) => `${user} hat ${what} nicht mehr.`,
}
