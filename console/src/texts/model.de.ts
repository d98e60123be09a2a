/** Deutsche Texte des Modellgraphen und der Berechtigungsmatrix. */
import type { Texts } from './en.ts'
import { things } from './things.ts'

export const modelGraphDe: Texts['model']['graph'] = {
  title: 'Modell',
  lead: 'Ressourcentypen mit ihren Aktionen, Rollen und Beziehungen sowie Rollen, die aus anderen Rollen abgeleitet werden.',
  empty:
    'Es gibt noch keine Typen. Legen Sie einen Ressourcentyp an, zum Beispiel document, und seine Aktionen.',
  find: 'Typ suchen',
  withRoles: 'Rollen anzeigen',
  withGroups: groups => `Für Gruppen erzeugte Beziehungen anzeigen (${groups})`,
  tooMany: (shown, total) =>
    `Der Graph zeigt die ersten ${shown} von ${total} Typen. Mit der Suche finden Sie die anderen.`,
  loaded: (shown, total) => `${shown} von ${total} Typen geladen…`,
  countOf: total => things(total, 'Typ', 'Typen'),
  picture: 'Typen und ihre Beziehungen',
  pictureHelp:
    'Mit den Pfeiltasten gelangen Sie zu einem Nachbarn, mit Pos1 und Ende zum ersten und letzten Typ. Die Eingabetaste wählt einen Typ. Plus, Minus und 0 ändern die Vergrößerung. Die Liste darunter hat denselben Inhalt.',
  counts: (actions, roles) =>
    `${things(String(actions), 'Aktion', 'Aktionen')} · ${things(String(roles), 'Rolle', 'Rollen')}`,
  extends: roles => `⊇ ${roles}`,
  heard: (name, key, counts, neighbors) =>
    `${name}${name === key ? '' : ` (${key})`}: ${counts}. ${neighbors === '' ? 'Nicht verbunden.' : `Verbunden mit ${neighbors}.`}`,
  smaller: 'Verkleinern',
  larger: 'Vergrößern',
  whole: 'Alles anzeigen',
  legend: {
    relation: 'Beziehung, vom Subjekt zum Objekt',
    derivation: 'Rolle, über eine Beziehung abgeleitet',
    loop: '↻ Beziehung zum selben Typ, darüber abgeleitete Rolle',
    keys: '⊇ enthält alle Berechtigungen der anderen Rolle',
  },
  asList: 'Das Modell als Liste',
  listActions: actions => (actions === '' ? 'Keine Aktionen.' : `Aktionen: ${actions}.`),
  listRoles: roles => (roles === '' ? 'Keine Rollen.' : `Rollen: ${roles}.`),
  relationSentence: (subject, key, object) => `${subject} kann ${key} von ${object} sein.`,
  derivationSentence: (fromRole, fromType, toRole, toType, along, isGuarded) =>
    `${fromRole} von ${fromType} gibt ${toRole} von ${toType} über ${along}${isGuarded ? ', für Benutzer ohne direkte Rolle' : ''}.`,
  panel: type => `Der Typ ${type}`,
  toMatrix: 'Berechtigungen',
  actions: 'Aktionen',
  roles: 'Rollen',
  relations: 'Beziehungen',
  derivations: 'Ableitungen',
  attributes: 'Attribute',
  actionGroups: 'Aktionsgruppen',
  noActions: 'Dieser Typ hat noch keine Aktionen.',
  noActionGroups: 'Dieser Typ hat keine Aktionsgruppen.',
  noRoles: 'Dieser Typ hat noch keine Rollen.',
  noPermissions: 'keine direkten Berechtigungen',
  noRelations: 'Dieser Typ hat keine Beziehungen.',
  noDerivations: 'Dieser Typ hat keine abgeleiteten Rollen.',
  noAttributes: 'Dieser Typ hat keine deklarierten Attribute.',
  extendsSentence: roles => `⊇ enthält alle Berechtigungen von ${roles}`,
  ofGroups:
    'Durch die Zuweisung einer Rolle an eine Gruppe erzeugt. Wird mit der letzten solchen Zuweisung gelöscht.',
  add: 'Anlegen',
  remove: 'Löschen',
  key: 'Schlüssel',
  keyHelp:
    'Name in der API: Buchstaben, Ziffern, Binde- und Unterstriche. Er kann später nicht geändert werden.',
  name: 'Name',
  addType: {
    open: 'Typ anlegen',
    title: 'Typ anlegen',
    actionsHelp:
      'Schlüssel, durch Kommas getrennt, zum Beispiel read, update. Weitere Aktionen können Sie später anlegen.',
    sentence: (key, actions) =>
      `Legt den Typ ${key === '' ? '…' : key} an, ${actions === '' ? 'ohne Aktionen' : `mit den Aktionen ${actions}`}. Kein Benutzer hat Zugriff, bis eine Rolle ihn erlaubt.`,
    done: key => `Der Typ ${key} wurde angelegt.`,
  },
  removeType: {
    label: key => `Typ ${key} löschen`,
    title: 'Typ löschen',
    sentence: key =>
      `Löscht den Typ ${key} mit seinen Aktionen, Rollen, Beziehungen und Ressourcen und allen Zuweisungen darauf. Das lässt sich nicht rückgängig machen.`,
    done: key => `Der Typ ${key} wurde gelöscht.`,
  },
  addAction: {
    open: 'Aktion anlegen',
    title: type => `Aktion von ${type} anlegen`,
    sentence: (key, type) =>
      `Legt die Aktion ${key === '' ? '…' : key} von ${type} an. Kein Benutzer darf sie ausführen, bis eine Rolle sie erlaubt.`,
    done: (key, type) => `Die Aktion ${key} von ${type} wurde angelegt.`,
  },
  editAction: {
    label: key => `Aktion ${key} bearbeiten`,
    title: (key, type) => `Aktion ${key} von ${type} bearbeiten`,
    sentence: (key, type) =>
      `Ändert Name, Beschreibung und Attribute der Aktion ${key} von ${type}. Berechtigungen ändern sich nicht.`,
    done: (key, type) => `Die Aktion ${key} von ${type} wurde geändert.`,
  },
  removeAction: {
    label: key => `Aktion ${key} löschen`,
    title: 'Aktion löschen',
    sentence: (key, type) =>
      `Löscht die Aktion ${key} von ${type} und entfernt sie aus jeder Rolle, die sie erlaubt. Das lässt sich nicht rückgängig machen.`,
    done: (key, type) => `Die Aktion ${key} von ${type} wurde gelöscht.`,
  },
  addActionGroup: {
    open: 'Aktionsgruppe anlegen',
    title: type => `Aktionsgruppe von ${type} anlegen`,
    actions: 'Enthaltene Aktionen',
    sentence: (key, type, actions) =>
      `Legt die Aktionsgruppe ${key === '' ? '…' : key} von ${type} an, ${actions === '' ? 'ohne Aktionen' : `mit den Aktionen ${actions}`}. Berechtigungen ändern sich nicht.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} wurde angelegt.`,
  },
  editActionGroup: {
    label: key => `Aktionsgruppe ${key} bearbeiten`,
    title: (key, type) => `Aktionsgruppe ${key} von ${type} bearbeiten`,
    sentence: (key, actions) =>
      `${key} enthält dann ${actions === '' ? 'keine Aktionen' : `die Aktionen ${actions}`}. Berechtigungen ändern sich nicht.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} wurde geändert.`,
  },
  removeActionGroup: {
    label: key => `Aktionsgruppe ${key} löschen`,
    title: 'Aktionsgruppe löschen',
    sentence: (key, type) =>
      `Löscht die Aktionsgruppe ${key} von ${type}. Ihre Aktionen und alle Berechtigungen bleiben erhalten.`,
    done: (key, type) => `Die Aktionsgruppe ${key} von ${type} wurde gelöscht.`,
  },
  addRole: {
    open: 'Rolle anlegen',
    title: type => `Rolle von ${type} anlegen`,
    tenantTitle: 'Mandantenrolle anlegen',
    may: 'Erlaubte Aktionen',
    sentence: (key, type, actions) =>
      `Legt die Rolle ${key === '' ? '…' : key} von ${type} an, ${actions === '' ? 'ohne Berechtigungen' : `mit den Berechtigungen ${actions}`}. Kein Benutzer hat sie, bis sie zugewiesen wird.`,
    tenantSentence: key =>
      `Legt die Mandantenrolle ${key === '' ? '…' : key} ohne Berechtigungen an. Kein Benutzer hat sie, bis sie in einem Mandanten zugewiesen wird.`,
    done: key => `Die Rolle ${key} wurde angelegt.`,
  },
  editRole: {
    label: key => `Rolle ${key} bearbeiten`,
    title: (key, type) => `Rolle ${key} von ${type} bearbeiten`,
    tenantTitle: key => `Mandantenrolle ${key} bearbeiten`,
    sentence: key =>
      `Ändert Name, Beschreibung und Attribute der Rolle ${key}. Ihre Berechtigungen ändern sich nicht.`,
    done: key => `Die Rolle ${key} wurde geändert.`,
  },
  guard: {
    open: 'Vorbehalt…',
    label: role => `Vorbehalt von ${role}`,
    title: (role, type) => `Vorbehalt der Rolle ${role} von ${type}`,
    check: type => `Nur für Benutzer ohne direkte Rolle auf ${type}`,
    guards: (role, type) =>
      `Benutzer mit einer direkten Rolle auf einer Ressource vom Typ ${type} erhalten ${role} dort nicht mehr durch Ableitungen.`,
    frees: (role, type) =>
      `Auch Benutzer mit einer direkten Rolle auf einer Ressource vom Typ ${type} erhalten ${role} dort durch Ableitungen, außer durch Ableitungen mit eigenem Vorbehalt.`,
    done: (role, type) => `Der Vorbehalt von ${role} von ${type} wurde geändert.`,
    sentence: type => `Wird nur für Benutzer ohne direkte Rolle auf ${type} abgeleitet.`,
    on: 'nur für Benutzer ohne direkte Rolle',
    off: 'für alle Benutzer',
  },
  removeRole: {
    label: key => `Rolle ${key} löschen`,
    title: 'Rolle löschen',
    sentence: (key, type) =>
      `Löscht die Rolle ${key} von ${type}. Alle Benutzer verlieren sie und die Rollen, die aus ihr abgeleitet werden. Das lässt sich nicht rückgängig machen.`,
    done: (key, type) => `Die Rolle ${key} von ${type} wurde gelöscht.`,
    tenantSentence: key =>
      `Löscht die Mandantenrolle ${key}. Alle Benutzer verlieren sie in allen Mandanten. Das lässt sich nicht rückgängig machen.`,
    tenantDone: key => `Die Mandantenrolle ${key} wurde gelöscht.`,
  },
  parents: {
    open: 'Erweitert…',
    label: role => `Rollen, die ${role} erweitert`,
    title: role => `Rollen, die ${role} erweitert`,
    choose: role => `Rolle, die ${role} erweitert`,
    isNow: 'derzeit erweitert',
    adds: (role, parent) => `${role} enthält dann alle Berechtigungen von ${parent}.`,
    removes: (role, parent) => `${role} enthält die Berechtigungen von ${parent} dann nicht mehr.`,
    added: (role, parent) => `${role} erweitert jetzt ${parent}.`,
    removed: (role, parent) => `${role} erweitert ${parent} nicht mehr.`,
  },
  addRelation: {
    open: 'Beziehung anlegen',
    title: type => `Beziehung zu ${type} anlegen`,
    keyHelp: 'Beziehung des Subjekts zu diesem Typ, zum Beispiel parent oder owner.',
    subject: 'Typ des Subjekts',
    subjectHelp: type => `Typ, der diese Beziehung zu ${type} haben kann, zum Beispiel folder.`,
    sentence: (key, subject, type) =>
      `${subject === '' ? '…' : subject} kann dann ${key === '' ? '…' : key} von ${type} sein. Der Zugriff ändert sich nicht, bis über diese Beziehung eine Rolle abgeleitet wird.`,
    done: (key, subject, type) => `${subject} kann jetzt ${key} von ${type} sein.`,
  },
  removeRelation: {
    label: key => `Beziehung ${key} löschen`,
    title: 'Beziehung löschen',
    sentence: (key, subject, object) =>
      `Löscht die Beziehung ${key} von ${subject} zu ${object} mit allen Beziehungstupeln und Ableitungen. Das lässt sich nicht rückgängig machen.`,
    done: (key, object) => `Die Beziehung ${key} zu ${object} wurde gelöscht.`,
  },
  addDerivation: {
    open: 'Ableitung anlegen',
    title: type => `Rolle von ${type} ableiten`,
    along: 'Über die Beziehung',
    fromRole: type => `Von der Rolle von ${type}`,
    toRole: type => `Zur Rolle von ${type}`,
    guard: type => `Nur für Benutzer ohne direkte Rolle auf ${type}`,
    unfinished: 'Wählen Sie eine Beziehung und eine Rolle jedes ihrer Typen.',
    sentence: (fromRole, fromType, toRole, toType, along, isGuarded) =>
      `Benutzer mit der Rolle ${fromRole} auf einer Ressource vom Typ ${fromType} erhalten ${toRole} auf jeder Ressource vom Typ ${toType}, deren ${along} sie ist${isGuarded ? ', sofern sie dort keine direkte Rolle haben' : ''}.`,
    done: (fromRole, fromType, toRole, toType) =>
      `${fromRole} von ${fromType} gibt jetzt ${toRole} von ${toType}.`,
  },
  removeDerivation: {
    label: sentence => `Löschen: ${sentence}`,
    title: 'Ableitung löschen',
    sentence: (fromRole, fromType, toRole, toType, along) =>
      `Benutzer mit der Rolle ${fromRole} auf einer Ressource vom Typ ${fromType} erhalten ${toRole} nicht mehr auf jeder Ressource vom Typ ${toType}, deren ${along} sie ist. Direkte Zuweisungen von ${toRole} bleiben erhalten.`,
    done: (fromRole, fromType, toRole, toType) =>
      `${fromRole} von ${fromType} gibt nicht mehr ${toRole} von ${toType}.`,
  },
  addAttribute: {
    open: 'Attribut anlegen',
    title: type => `Attribut von ${type} deklarieren`,
    keyHelp: 'Name in Bedingungen und in der API, zum Beispiel size oder stage.',
    sentence: (key, type) =>
      `Deklariert das Attribut ${key === '' ? '…' : key} von ${type}, damit Fehler in Bedingungen erkannt werden. Entscheidungen ändern sich nicht.`,
    done: (key, type) => `Das Attribut ${key} von ${type} wurde deklariert.`,
  },
  editAttribute: {
    label: key => `Attribut ${key} bearbeiten`,
    title: (key, type) => `Attribut ${key} von ${type} bearbeiten`,
    sentence: key => `Ändert die Deklaration von ${key}. Entscheidungen ändern sich nicht.`,
    done: (key, type) => `Das Attribut ${key} von ${type} wurde geändert.`,
  },
  removeAttribute: {
    label: key => `Attribut ${key} löschen`,
    title: 'Attribut löschen',
    sentence: (key, type) =>
      `Löscht die Deklaration des Attributs ${key} von ${type}. Gespeicherte Werte bleiben erhalten, und Entscheidungen ändern sich nicht.`,
    done: (key, type) => `Das Attribut ${key} von ${type} ist nicht mehr deklariert.`,
  },
  kind: 'Werttyp',
  kinds: {
    string: 'Text',
    number: 'Zahl',
    bool: 'ja oder nein',
    time: 'Zeitpunkt',
    array: 'Liste',
    object: 'Objekt',
    object_array: 'Liste von Objekten',
    json: 'beliebiger Wert',
  },
  editType: {
    label: type => `Typ ${type} bearbeiten`,
    title: type => `${type} bearbeiten`,
    sentence: type => `Ändert Name und Beschreibung von ${type}. Berechtigungen ändern sich nicht.`,
    done: type => `Der Typ ${type} wurde geändert.`,
  },
  edit: {
    open: 'Bearbeiten',
    description: 'Beschreibung',
    attributes: 'Attribute',
    attributesHelp:
      'Daten, die Ihre Anwendungen hier speichern, als JSON: {"color": "green"}. Lassen Sie das Feld leer, wenn es keine gibt.',
    noObject: 'Das ist kein JSON-Objekt.',
    save: 'Speichern',
    now: value => `Aktueller Wert: ${value === '' ? '(leer)' : value}`,
  },
}

export const modelMatrixDe: Texts['model']['matrix'] = {
  title: 'Berechtigungen',
  lead: 'Berechtigungen jeder Rolle. Wählen Sie eine Zelle, um eine Berechtigung zu erteilen oder zu entziehen.',
  of: 'Rollen von',
  tenantRoles: 'Mandanten, auf allen Typen',
  tenantNote:
    'Mandantenrollen erlauben diese Aktionen auf allen Ressourcen ihres Mandanten. Zeilen sind Typen, Spalten sind Mandantenrollen.',
  typeNote: type => `Aktionen, die die Rollen auf einer Ressource vom Typ ${type} erlauben.`,
  truncated: (shown, total) =>
    `Die Liste enthält die ersten ${shown} von ${total} Typen. Mit der Suche darunter finden Sie die anderen.`,
  table: type => `Berechtigungen der Rollen von ${type}`,
  tenantTable: 'Berechtigungen der Mandantenrollen',
  role: 'Rolle',
  action: 'Aktion',
  noRoles: 'Es gibt noch keine Rollen.',
  noActions: 'Es gibt noch keine Aktionen.',
  noTypes: 'Keine passenden Typen.',
  moreRoles: 'Mehr Rollen anzeigen',
  tenantRoleList: 'Mandantenrollen',
  moreTypes: 'Mehr Typen anzeigen',
  findTypes: 'Typen suchen',
  legend: { direct: 'erteilt', inherited: 'durch eine erweiterte Rolle', none: 'nicht erteilt' },
  direct: (role, permission) => `${role} darf ${permission}`,
  both: (role, permission, through) => `${role} darf ${permission}, auch durch ${through}`,
  inherited: (role, permission, through) => `${role} darf ${permission} durch ${through}`,
  none: (role, permission) => `${role} darf nicht ${permission}`,
  gives: (role, permission) => `Auswählen, um ${permission} der Rolle ${role} zu erteilen.`,
  givesToo: (role, permission, through) =>
    `Auswählen, um ${permission} direkt der Rolle ${role} zu erteilen, die es schon durch ${through} hat.`,
  takes: (role, permission) => `Auswählen, um ${permission} der Rolle ${role} zu entziehen.`,
  takesNothing: (role, permission, through) =>
    `Auswählen, um die direkte Berechtigung ${permission} der Rolle ${role} zu entziehen, die es durch ${through} behält.`,
  given: (role, permission) => `${permission} wurde ${role} erteilt.`,
  taken: (role, permission) => `${permission} wurde ${role} entzogen.`,
  hint: 'Pfeiltasten wechseln die Zelle. Die Leertaste erteilt oder entzieht.',
}
