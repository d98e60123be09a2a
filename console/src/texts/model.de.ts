/** Was der Graph des Modells und die Berechtigungen sagen, auf Deutsch. */
import type { Texts } from './en.ts'
import { things } from './things.ts'

export const modelGraphDe: Texts['model']['graph'] = {
  title: 'Modell',
  lead: 'Welche Arten von Dingen es gibt, was man mit ihnen tun kann und wie Rollen auseinander folgen.',
  empty: 'Es gibt noch keine Typen. Legen Sie einen an, etwa document, mit dem, was man damit tun kann.',
  find: 'Typ suchen',
  withRoles: 'Rollen anzeigen',
  withGroups: groups => `Anzeigen, was durch Zuweisungen an Gruppen entsteht (${groups})`,
  tooMany: (shown, total) =>
    `Das Bild zeigt die ersten ${shown} von ${total} Typen. Die Suche findet auch die anderen.`,
  loaded: (shown, total) => `${shown} von ${total} Typen sind da, weitere folgen…`,
  countOf: total => things(total, 'Typ', 'Typen'),
  picture: 'Typen und was sie verbindet',
  pictureHelp:
    'Pfeiltasten führen zum Nachbarn in ihrer Richtung, Pos1 und Ende zum ersten und letzten Typ. Die Eingabetaste wählt einen Typ. Plus, Minus und 0 ändern die Größe. Dasselbe steht darunter als Liste.',
  counts: (actions, roles) =>
    `${things(String(actions), 'Aktion', 'Aktionen')} · ${things(String(roles), 'Rolle', 'Rollen')}`,
  extends: roles => `⊇ ${roles}`,
  heard: (name, key, counts, neighbours) =>
    `${name}${name === key ? '' : ` (${key})`}: ${counts}. ${neighbours === '' ? 'Mit nichts verbunden.' : `Verbunden mit ${neighbours}.`}`,
  smaller: 'Kleiner',
  larger: 'Größer',
  whole: 'Alles anzeigen',
  legend: {
    relation: 'Beziehung, vom Subjekt zum Objekt',
    derivation: 'Rolle, die entlang einer Beziehung folgt',
    loop: '↻ Beziehung zu sich selbst, Rolle, die ihr entlang folgt',
    keys: '⊇ hat alles, was die andere Rolle hat',
  },
  asList: 'Das Modell als Liste',
  listActions: actions => (actions === '' ? 'Keine Aktionen.' : `Aktionen: ${actions}.`),
  listRoles: roles => (roles === '' ? 'Keine Rollen.' : `Rollen: ${roles}.`),
  relationSentence: (subject, key, object) => `${subject} kann ${key} von ${object} sein.`,
  derivationSentence: (fromRole, fromType, toRole, toType, along, isGuarded) =>
    `${fromRole} von ${fromType} gibt ${toRole} von ${toType} entlang ${along}${isGuarded ? ', wo niemand direkt eine Rolle darauf hat' : ''}.`,
  panel: type => `Der Typ ${type}`,
  toMatrix: 'Berechtigungen',
  actions: 'Aktionen',
  roles: 'Rollen',
  relations: 'Beziehungen',
  derivations: 'Ableitungen',
  attributes: 'Attribute',
  actionGroups: 'Aktionsgruppen',
  noActions: 'Man kann damit noch nichts tun.',
  noActionGroups: 'Keine Aktionen sind unter einem Namen zusammengefasst.',
  noRoles: 'Noch kann niemand eine Rolle darauf bekommen.',
  noPermissions: 'keine eigenen Berechtigungen',
  noRelations: 'Er ist mit nichts verbunden.',
  noDerivations: 'Keine Rolle folgt aus einer anderen.',
  noAttributes: 'Keine Attribute sind angegeben.',
  extendsSentence: roles => `⊇ hat alles, was ${roles} hat`,
  ofGroups: 'Durch die Zuweisung an eine Gruppe entstanden; verschwindet mit der letzten.',
  add: 'Anlegen',
  remove: 'Löschen',
  key: 'Schlüssel',
  keyHelp: 'So nennen ihn Programme: Buchstaben, Ziffern, Binde- und Unterstriche. Er bleibt, wie er ist.',
  name: 'Name',
  addType: {
    open: 'Typ anlegen',
    title: 'Typ anlegen',
    actionsHelp:
      'Ihre Schlüssel, durch Kommas getrennt, etwa read, update. Weitere können später dazukommen.',
    sentence: (key, actions) =>
      `Legt den Typ ${key === '' ? '…' : key} an, ${actions === '' ? 'ohne Aktionen' : `mit dem, was man tun kann: ${actions}`}. Niemand darf etwas damit tun, bis eine Rolle es erlaubt.`,
    done: key => `Den Typ ${key} gibt es jetzt.`,
  },
  removeType: {
    label: key => `Typ ${key} löschen`,
    title: 'Typ löschen',
    sentence: key =>
      `Löscht den Typ ${key} mit seinen Aktionen, Rollen, Beziehungen und Ressourcen und allem, was darauf zugewiesen wurde. Das lässt sich nicht rückgängig machen.`,
    done: key => `Der Typ ${key} ist gelöscht.`,
  },
  addAction: {
    open: 'Aktion anlegen',
    title: type => `Aktion von ${type} anlegen`,
    sentence: (key, type) =>
      `Mit ${type} kann man dann auch ${key === '' ? '…' : key}. Niemand darf es, bis eine Rolle es erlaubt.`,
    done: (key, type) => `Mit ${type} kann man jetzt ${key}.`,
  },
  editAction: {
    label: key => `Aktion ${key} bearbeiten`,
    title: (key, type) => `Aktion ${key} von ${type} bearbeiten`,
    sentence: (key, type) =>
      `Ändert, wie die Aktion ${key} von ${type} heißt und beschrieben wird. Wer sie darf, bleibt, wie es ist.`,
    done: (key, type) => `Die Aktion ${key} von ${type} ist geändert.`,
  },
  removeAction: {
    label: key => `Aktion ${key} löschen`,
    title: 'Aktion löschen',
    sentence: (key, type) =>
      `Löscht die Aktion ${key} von ${type} und entzieht sie jeder Rolle, die sie hat. Das lässt sich nicht rückgängig machen.`,
    done: (key, type) => `Die Aktion ${key} von ${type} ist gelöscht.`,
  },
  addActionGroup: {
    open: 'Aktionsgruppe anlegen',
    title: type => `Aktionsgruppe von ${type} anlegen`,
    actions: 'Steht für',
    sentence: (key, type, actions) =>
      `${key === '' ? '…' : key} steht dann in Programmen, die das Modell von ${type} lesen, für ${actions === '' ? 'noch keine Aktion' : actions}. Wer was darf, bleibt, wie es ist.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} gibt es jetzt.`,
  },
  editActionGroup: {
    label: key => `Aktionsgruppe ${key} bearbeiten`,
    title: (key, type) => `Aktionsgruppe ${key} von ${type} bearbeiten`,
    sentence: (key, actions) =>
      `${key} steht dann für ${actions === '' ? 'keine Aktion' : actions}. Wer was darf, bleibt, wie es ist.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} ist geändert.`,
  },
  removeActionGroup: {
    label: key => `Aktionsgruppe ${key} löschen`,
    title: 'Aktionsgruppe löschen',
    sentence: (key, type) =>
      `Löscht die Aktionsgruppe ${key} von ${type}. Ihre Aktionen bleiben, und wer was darf, auch.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} ist gelöscht.`,
  },
  addRole: {
    open: 'Rolle anlegen',
    title: type => `Rolle von ${type} anlegen`,
    tenantTitle: 'Mandantenrolle anlegen',
    may: 'Wer sie hat, darf',
    sentence: (key, type, actions) =>
      `Legt die Rolle ${key === '' ? '…' : key} von ${type} an, die ${actions === '' ? 'noch nichts darf' : `${actions} darf`}. Niemand hat sie, bis sie zugewiesen wird.`,
    tenantSentence: key =>
      `Legt die Mandantenrolle ${key === '' ? '…' : key} an, die noch nichts darf. Niemand hat sie, bis sie in einem Mandanten zugewiesen wird.`,
    done: key => `Die Rolle ${key} gibt es jetzt.`,
  },
  editRole: {
    label: key => `Rolle ${key} bearbeiten`,
    title: (key, type) => `Rolle ${key} von ${type} bearbeiten`,
    tenantTitle: key => `Mandantenrolle ${key} bearbeiten`,
    sentence: key =>
      `Ändert, wie die Rolle ${key} heißt und beschrieben wird. Was man mit ihr darf, bleibt, wie es ist.`,
    done: key => `Die Rolle ${key} ist geändert.`,
  },
  guard: {
    open: 'Vorbehalt…',
    label: role => `Vorbehalt von ${role}`,
    title: (role, type) => `Wann ${role} von ${type} aus anderen Rollen folgt`,
    check: type => `Nur wo niemand direkt eine Rolle auf ${type} hat`,
    guards: (role, type) =>
      `Wer durch eine andere Rolle ${role} von etwas vom Typ ${type} ist, ist es dann nur, wo niemand direkt eine Rolle darauf hat.`,
    frees: (role, type) =>
      `Wer durch eine andere Rolle ${role} von etwas vom Typ ${type} ist, ist es dann, wer auch immer eine Rolle darauf hat, sofern nicht eine Ableitung selbst anderes sagt.`,
    done: (role, type) => `Wann ${role} von ${type} folgt, ist geändert.`,
    sentence: type => `Folgt nur, wo niemand direkt eine Rolle auf ${type} hat.`,
    on: 'nur wo niemand direkt eine Rolle hat',
    off: 'überall',
  },
  removeRole: {
    label: key => `Rolle ${key} löschen`,
    title: 'Rolle löschen',
    sentence: (key, type) =>
      `Löscht die Rolle ${key} von ${type}. Alle, denen sie zugewiesen wurde, verlieren sie und was aus ihr folgt. Das lässt sich nicht rückgängig machen.`,
    done: (key, type) => `Die Rolle ${key} von ${type} ist gelöscht.`,
    tenantSentence: key =>
      `Löscht die Mandantenrolle ${key}. Alle, denen sie in einem Mandanten zugewiesen wurde, verlieren sie. Das lässt sich nicht rückgängig machen.`,
    tenantDone: key => `Die Mandantenrolle ${key} ist gelöscht.`,
  },
  parents: {
    open: 'Erweitert…',
    label: role => `Was ${role} erweitert`,
    title: role => `Was ${role} erweitert`,
    choose: role => `Rolle, die ${role} erweitert`,
    isNow: 'jetzt erweitert',
    adds: (role, parent) => `Wer ${role} hat, darf dann auch alles, was ${parent} darf.`,
    removes: (role, parent) => `Wer ${role} hat, darf dann nicht mehr, was nur ${parent} darf.`,
    added: (role, parent) => `${role} hat jetzt alles, was ${parent} hat.`,
    removed: (role, parent) => `${role} erweitert ${parent} nicht mehr.`,
  },
  addRelation: {
    open: 'Beziehung anlegen',
    title: type => `Beziehung zu ${type} anlegen`,
    keyHelp: 'Was das andere Ding für dieses ist, etwa parent oder owner.',
    subject: 'Typ des anderen Dings',
    subjectHelp: type => `Was das von ${type} sein kann, etwa folder.`,
    sentence: (key, subject, type) =>
      `${subject === '' ? '…' : subject} kann dann ${key === '' ? '…' : key} von ${type} sein. Niemand gewinnt etwas dadurch, bis ihr entlang eine Rolle folgt.`,
    done: (key, subject, type) => `${subject} kann jetzt ${key} von ${type} sein.`,
  },
  removeRelation: {
    label: key => `Beziehung ${key} löschen`,
    title: 'Beziehung löschen',
    sentence: (key, subject, object) =>
      `Löscht die Beziehung ${key} von ${subject} zu ${object} mit allem, was sie verbindet, und den Rollen, die ihr entlang folgen. Das lässt sich nicht rückgängig machen.`,
    done: (key, object) => `Die Beziehung ${key} zu ${object} ist gelöscht.`,
  },
  addDerivation: {
    open: 'Ableitung anlegen',
    title: type => `Rolle von ${type} ableiten`,
    along: 'Entlang der Beziehung',
    fromRole: type => `Wer diese Rolle von ${type} hat`,
    toRole: type => `hat diese Rolle von ${type}`,
    guard: type => `Nur wo niemand direkt eine Rolle auf ${type} hat`,
    unfinished: 'Wählen Sie eine Beziehung und an jedem ihrer Enden eine Rolle.',
    sentence: (fromRole, fromType, toRole, toType, along, isGuarded) =>
      `Wer ${fromRole} von ${fromType} ist, ist dann ${toRole} von allem vom Typ ${toType}, dessen ${along} es ist${isGuarded ? ' und auf dem niemand direkt eine Rolle hat' : ''}.`,
    done: (fromRole, fromType, toRole, toType) =>
      `${fromRole} von ${fromType} gibt jetzt ${toRole} von ${toType}.`,
  },
  removeDerivation: {
    label: sentence => `Löschen: ${sentence}`,
    title: 'Ableitung löschen',
    sentence: (fromRole, fromType, toRole, toType, along) =>
      `Wer ${fromRole} von ${fromType} ist, ist dann nicht mehr ${toRole} von allem vom Typ ${toType}, dessen ${along} es ist. Wer ${toRole} direkt zugewiesen bekommen hat, behält die Rolle.`,
    done: (fromRole, fromType, toRole, toType) =>
      `${fromRole} von ${fromType} gibt nicht mehr ${toRole} von ${toType}.`,
  },
  addAttribute: {
    open: 'Attribut festlegen',
    title: type => `Attribut von ${type} festlegen`,
    keyHelp: 'So nennen es Bedingungen und Programme, etwa size oder stage.',
    sentence: (key, type) =>
      `Sagt, dass etwas vom Typ ${type} ${key === '' ? '…' : key} hat, damit Fehler in Bedingungen darüber auffallen. Was entschieden wird, bleibt, wie es ist.`,
    done: (key, type) => `Das Attribut ${key} von ${type} ist festgelegt.`,
  },
  editAttribute: {
    label: key => `Attribut ${key} bearbeiten`,
    title: (key, type) => `Attribut ${key} von ${type} bearbeiten`,
    sentence: key => `Ändert, was von ${key} gesagt wird. Was entschieden wird, bleibt, wie es ist.`,
    done: (key, type) => `Das Attribut ${key} von ${type} ist geändert.`,
  },
  removeAttribute: {
    label: key => `Attribut ${key} löschen`,
    title: 'Attribut löschen',
    sentence: (key, type) =>
      `Sagt nicht mehr, dass etwas vom Typ ${type} ${key} hat. Was die Dinge haben, bleibt, und was entschieden wird, auch.`,
    done: (key, type) => `Das Attribut ${key} von ${type} ist nicht mehr festgelegt.`,
  },
  kind: 'Enthält',
  kinds: {
    string: 'Text',
    number: 'Zahl',
    bool: 'ja oder nein',
    time: 'Zeitpunkt',
    array: 'Liste',
    object: 'Objekt',
    object_array: 'Liste von Objekten',
    json: 'Beliebiges',
  },
  editType: {
    label: type => `Typ ${type} bearbeiten`,
    title: type => `${type} bearbeiten`,
    sentence: type => `Ändert, wie ${type} heißt und beschrieben wird. Was erlaubt ist, bleibt, wie es ist.`,
    done: type => `${type} ist geändert.`,
  },
  edit: {
    open: 'Bearbeiten',
    description: 'Beschreibung',
    attributes: 'Attribute',
    attributesHelp: 'Was Ihre Programme dazu aufheben, als JSON: {"color": "green"}. Leer: nichts.',
    noObject: 'Das ist kein JSON-Objekt.',
    save: 'Speichern',
    now: value => `Jetzt steht da: ${value === '' ? '(nichts)' : value}`,
  },
}

export const modelMatrixDe: Texts['model']['matrix'] = {
  title: 'Berechtigungen',
  lead: 'Welche Rolle was darf. Ein Druck auf eine Zelle erteilt oder entzieht eine Berechtigung.',
  of: 'Rollen von',
  tenantRoles: 'Mandanten, auf allen Typen',
  tenantNote:
    'Eine Mandantenrolle erlaubt dies mit allem in ihrem Mandanten. Hier sind Typen die Zeilen und Mandantenrollen die Spalten.',
  typeNote: type => `Was eine Rolle auf ${type} damit zu tun erlaubt.`,
  truncated: (shown, total) =>
    `Zur Wahl stehen die ersten ${shown} von ${total} Typen; die Suche darunter findet auch die übrigen.`,
  table: type => `Berechtigungen der Rollen von ${type}`,
  tenantTable: 'Berechtigungen der Mandantenrollen',
  role: 'Rolle',
  action: 'Aktion',
  noRoles: 'Es gibt noch keine Rollen.',
  noActions: 'Es gibt noch keine Aktionen.',
  noTypes: 'Kein Typ passt.',
  moreRoles: 'Mehr Rollen anzeigen',
  tenantRoleList: 'Die Mandantenrollen',
  moreTypes: 'Mehr Typen anzeigen',
  findTypes: 'Typen suchen',
  legend: { direct: 'erteilt', inherited: 'durch eine Rolle, die sie erweitert', none: 'nicht erteilt' },
  direct: (role, permission) => `${role} darf ${permission}`,
  both: (role, permission, through) => `${role} darf ${permission}, auch durch ${through}`,
  inherited: (role, permission, through) => `${role} darf ${permission} durch ${through}`,
  none: (role, permission) => `${role} darf nicht ${permission}`,
  gives: (role, permission) => `Ein Druck erteilt ${permission} allen, die ${role} haben.`,
  givesToo: (role, permission, through) =>
    `Ein Druck erteilt ${permission} auch ${role} selbst. Durch ${through} ist es schon erlaubt.`,
  takes: (role, permission) => `Ein Druck entzieht ${permission} allen, die es durch ${role} haben.`,
  takesNothing: (role, permission, through) =>
    `Ein Druck entzieht ${permission} der Rolle ${role} selbst. Durch ${through} bleibt es erlaubt.`,
  given: (role, permission) => `${role} darf jetzt ${permission}.`,
  taken: (role, permission) => `${permission} ist der Rolle ${role} entzogen.`,
  hint: 'Pfeiltasten führen von Zelle zu Zelle, die Leertaste erteilt oder entzieht.',
}
