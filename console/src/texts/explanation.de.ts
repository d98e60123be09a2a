/** Warum etwas erlaubt ist oder beinahe erlaubt wäre, auf Deutsch: was die Seiten gemeinsam haben, die sagen, warum. */
import type { Texts } from './en.ts'

export const explanationDe: Texts['explanation'] = {
  kinds: {
    user: 'Benutzer',
    tenant: 'Mandant',
    group: 'Gruppe',
    role: 'Rolle',
    userSet: 'Benutzermenge',
    resourceSet: 'Ressourcenmenge',
    every: 'jede Ressource vom Typ',
  },
  why: {
    byTenantRole: (user, role, tenant, action, type) =>
      `${user} hat im Mandanten ${tenant} die Rolle ${role}. Sie erlaubt dort die Aktion ${action} auf jeder Ressource vom Typ ${type}.`,
    byRole: (user, role, resource, action) =>
      `${user} hat auf ${resource} die Rolle ${role}. Sie erlaubt die Aktion ${action}.`,
    byRoleFrom: (user, role, resource, action, from) =>
      `Über ${from} hat ${user} auf ${resource} die Rolle ${role}. Sie erlaubt die Aktion ${action}.`,
    byRoleWithoutPath: (user, resource) =>
      `${user} hat auf ${resource} eine Rolle, die es erlaubt. Dorthin führt zu viel, um den Weg zu nennen.`,
    byUnnamedRule: 'Eine Regel erlaubt es.',
  },
  path: {
    holds: 'hat',
    may: action => `darf ${action}`,
    contains: 'enthält sie',
    isType: 'ist ihr Typ',
    needs: roles => `braucht ${roles}`,
    holdsOnly: roles => `hat ${roles}`,
    granted: 'hat',
    isIn: 'ist in',
    becomes: (from, to) => `${from} → ${to}`,
    guarded: 'wenn keine direkte Rolle',
    blocked: roles => `gilt nicht: ${roles} direkt`,
    missing: 'fehlt',
    memberOf: (user, group) => `${user} ist Mitglied der Gruppe ${group}.`,
    holdsOn: (user, role, on) => `${user} hat auf ${on} die Rolle ${role}.`,
    holdsIn: (user, role, tenant) => `${user} hat im Mandanten ${tenant} die Rolle ${role}.`,
    holdsRole: (user, role) => `${user} hat die Rolle ${role}.`,
    isInUserSet: (user, set) => `${user} ist in der Benutzermenge ${set}.`,
    isInResourceSet: (name, set) => `${name} ist in der Ressourcenmenge ${set}.`,
    isOfType: (name, type) => `${name} ist vom Typ ${type}.`,
    roleMay: (role, action, resource, tenant) =>
      `${role} darf ${action} auf ${resource}; die Ressource gehört zum Mandanten ${tenant}.`,
    groupIsIn: (inner, outer) =>
      `Die Gruppe ${inner} ist in der Gruppe ${outer}: Ihre Mitglieder sind auch dort Mitglieder.`,
    groupHolds: (group, role, on) =>
      `Der Gruppe ${group} ist auf ${on} die Rolle ${role} zugewiesen: Ihre Mitglieder haben sie damit.`,
    derives: ({ from, relation, to, held, role }) =>
      `${from} ist ${relation} von ${to}: Wer auf ${from} die Rolle ${held} hat, hat auf ${to} die Rolle ${role}.`,
  },
  rule: {
    may: (who, action, what) => `Eine Regel erlaubt ${who} die Aktion ${action} auf ${what}.`,
    who: {
      set: set => `allen in der Benutzermenge ${set}`,
      role: role => `allen mit der Rolle ${role}`,
    },
    what: {
      set: set => `allem in der Ressourcenmenge ${set}`,
      type: type => `jeder Ressource vom Typ ${type}`,
    },
  },
  near: {
    title: 'Was einer Erlaubnis am nächsten kommt',
    lead: 'Jedes davon würde es erlauben, wenn eines anders wäre.',
    more: 'Es gibt weitere, oder es könnte sie geben.',
    onlyMore:
      'Zur Ressource führt zu viel, um alles anzusehen; deshalb steht hier nicht, was am nächsten kommt.',
    otherRoleTitle: (needed, on) => `Die Rolle ${needed} auf ${on}`,
    guardTitle: on => `Keine direkte Rolle auf ${on}`,
    noTupleTitle: (relation, on) => `Etwas als ${relation} von ${on}`,
    otherRole: (user, held, needed, on) => `${user} braucht auf ${on} die Rolle ${needed}, hat aber ${held}.`,
    extending: (held, needed) =>
      `${held} erweitert ${needed}: Das gibt die Berechtigungen, aber eine Ableitung verlangt die Rolle selbst.`,
    guarded: (user, blocking, on, from) =>
      `Was von ${from} kommt, gilt nur für Benutzer ohne direkte Rolle auf ${on}, und ${user} hat dort ${blocking}.`,
    noTuple: (from, relation, to, role) =>
      `Nichts ist ${relation} von ${to}. ${from} würde genügen, ebenso jede andere Ressource, auf der die Rolle ${role} besteht.`,
    needOtherRole: (user, needed, on) => `Dazu nötig: ${user} auf ${on} die Rolle ${needed} zuweisen.`,
    needMembership: (user, needed, group) => `Dazu nötig: ${user} zum ${needed} der Gruppe ${group} machen.`,
    needGuard: (user, blocking, on) =>
      `Dazu nötig: ${user} auf ${on} die Rolle ${blocking} entziehen oder dort eine Rolle zuweisen, die es erlaubt.`,
    needNoTuple: (from, relation, to) => `Dazu nötig: ${from} zum ${relation} von ${to} machen.`,
  },
  either: roles => roles.join(' oder '),
  both: roles => roles.join(' und '),
}
