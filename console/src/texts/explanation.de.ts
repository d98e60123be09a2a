/** Deutsche Texte, die erklären, warum eine Aktion erlaubt oder beinahe erlaubt ist. */
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
      `${user} hat die Rolle ${role} im Mandanten ${tenant}. Diese Rolle erlaubt dort ${action} auf jeder Ressource vom Typ ${type}.`,
    byRole: (user, role, resource, action) =>
      `${user} hat die Rolle ${role} auf ${resource}. Diese Rolle erlaubt ${action}.`,
    byRoleFrom: (user, role, resource, action, from) =>
      `${user} hat über ${from} die Rolle ${role} auf ${resource}. Diese Rolle erlaubt ${action}.`,
    byRoleWithoutPath: (user, resource) =>
      `${user} hat eine Rolle auf ${resource}, die es erlaubt. Der Pfad wird nicht angezeigt, weil zu viele Pfade zur Ressource führen.`,
    byUnnamedRule: 'Eine Regel erlaubt es.',
  },
  path: {
    holds: 'hat',
    may: action => `darf ${action}`,
    contains: 'enthält',
    isType: 'ist der Typ von',
    needs: roles => `braucht ${roles}`,
    holdsOnly: roles => `hat ${roles}`,
    granted: 'hat',
    isIn: 'ist in',
    becomes: (from, to) => `${from} → ${to}`,
    guarded: 'wenn keine direkte Rolle',
    blocked: roles => `gilt nicht: direkte Rolle ${roles}`,
    missing: 'fehlt',
    memberOf: (user, group) => `${user} ist Mitglied der Gruppe ${group}.`,
    holdsOn: (user, role, on) => `${user} hat die Rolle ${role} auf ${on}.`,
    holdsIn: (user, role, tenant) => `${user} hat die Rolle ${role} im Mandanten ${tenant}.`,
    holdsRole: (user, role) => `${user} hat die Rolle ${role}.`,
    isInUserSet: (user, set) => `${user} ist in der Benutzermenge ${set}.`,
    isInResourceSet: (name, set) => `${name} ist in der Ressourcenmenge ${set}.`,
    isOfType: (name, type) => `${name} ist vom Typ ${type}.`,
    roleMay: (role, action, resource, tenant) =>
      `${role} erlaubt ${action} auf ${resource}. Diese Ressource gehört zum Mandanten ${tenant}.`,
    groupIsIn: (inner, outer) =>
      `Die Gruppe ${inner} ist der Gruppe ${outer} untergeordnet, daher sind ihre Mitglieder auch Mitglieder von ${outer}.`,
    groupHolds: (group, role, on) => `Mitglieder der Gruppe ${group} haben die Rolle ${role} auf ${on}.`,
    derives: ({ from, relation, to, held, role }) =>
      `${from} ist ${relation} von ${to}, daher haben Benutzer mit der Rolle ${held} auf ${from} die Rolle ${role} auf ${to}.`,
  },
  rule: {
    may: (who, action, what) => `Eine Regel erlaubt ${who} die Aktion ${action} auf ${what}.`,
    who: {
      set: set => `Benutzern in der Benutzermenge ${set}`,
      role: role => `Benutzern mit der Rolle ${role}`,
    },
    what: {
      set: set => `Ressourcen in der Ressourcenmenge ${set}`,
      type: type => `jeder Ressource vom Typ ${type}`,
    },
  },
  near: {
    title: 'Beinahe erlaubt',
    lead: 'Jeder dieser Pfade würde die Aktion erlauben, wenn eine Bedingung erfüllt wäre.',
    more: 'Möglicherweise gibt es weitere solche Pfade.',
    onlyMore: 'Beinahe erfüllte Pfade werden nicht angezeigt, weil zu viele Pfade zur Ressource führen.',
    otherRoleTitle: (needed, on) => `Die Rolle ${needed} auf ${on}`,
    guardTitle: on => `Keine direkte Rolle auf ${on}`,
    noTupleTitle: (relation, on) => `Eine Beziehung ${relation} zu ${on}`,
    otherRole: (user, held, needed, on) =>
      `${user} benötigt die Rolle ${needed} auf ${on}, hat aber ${held}.`,
    extending: (held, needed) =>
      `${held} erweitert ${needed} und enthält deren Berechtigungen, aber die Ableitung verlangt die Rolle ${needed} selbst.`,
    guarded: (user, blocking, on, from) =>
      `Die von ${from} abgeleitete Rolle gilt nur für Benutzer ohne direkte Rolle auf ${on}, und ${user} hat dort ${blocking}.`,
    noTuple: (from, relation, to, role) =>
      `Keine Ressource ist ${relation} von ${to}. Der Benutzer hat die Rolle ${role} auf ${from}; das könnte diese Ressource sein.`,
    needOtherRole: (user, needed, on) =>
      `Um die Aktion zu erlauben, weisen Sie ${user} die Rolle ${needed} auf ${on} zu.`,
    needMembership: (user, needed, group) =>
      `Um die Aktion zu erlauben, machen Sie ${user} zum ${needed} der Gruppe ${group}.`,
    needGuard: (user, blocking, on) =>
      `Um die Aktion zu erlauben, entziehen Sie ${user} die Rolle ${blocking} auf ${on}, oder weisen Sie dort eine Rolle zu, die sie erlaubt.`,
    needNoTuple: (from, relation, to) =>
      `Um die Aktion zu erlauben, machen Sie ${from} zum ${relation} von ${to}.`,
  },
  either: roles => roles.join(' oder '),
  both: roles => roles.join(' und '),
}
