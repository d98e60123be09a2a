/** Deutsche Texte der Bedingungsmengen, der Modelldatei und der Codefelder. */
import type { Texts } from './en.ts'

export const modelSetsDe: Texts['model']['sets'] = {
  title: 'Bedingungsmengen',
  lead: 'Mengen von Benutzern und Ressourcen, die nach ihren Attributen ausgewählt werden. Eine Regel verbindet eine Benutzermenge, eine Berechtigung und eine Ressourcenmenge.',
  add: 'Neue Bedingungsmenge',
  search: 'Nach Name oder Schlüssel suchen',
  set: 'Menge',
  says: 'Bedingungen',
  none: 'Es gibt noch keine Bedingungsmengen. Eine Bedingungsmenge wählt Benutzer oder Ressourcen nach ihren Attributen aus, ohne eine Rolle für jeden einzelnen.',
  noneFound: 'Keine passenden Bedingungsmengen.',
  type: 'Art',
  types: { any: 'alle', userset: 'Benutzermenge', resourceset: 'Ressourcenmenge' },
  typeNotes: { userset: 'Wählt Benutzer aus.', resourceset: 'Wählt Ressourcen aus.' },
  computed: {
    userset:
      'Für eine Rolle erzeugt: enthält alle Benutzer mit dieser Rolle im Mandanten. Sie hat keine Bedingungen.',
    resourceset: 'Für einen Ressourcentyp erzeugt: enthält alle seine Ressourcen. Sie hat keine Bedingungen.',
  },
  andParent: 'Bedingungen der übergeordneten Menge, und',
  words: { and: 'und', or: 'oder', not: 'nicht', always: 'immer', never: 'nie' },
  limitedTo: (resource: string) => `nur ${resource}`,
  unsaved: 'nicht gespeichert',
  whatItIs: 'Definition',
  name: 'Name',
  key: 'Schlüssel',
  keyHelp: 'Buchstaben, Ziffern, - und _. Der Schlüssel kann später nicht geändert werden.',
  description: 'Beschreibung',
  resource: 'Ressourcentyp',
  resourceHelp: 'Beschränkt die Menge auf diesen Typ. Leer lassen für alle Typen.',
  parent: 'Übergeordnete Menge',
  parentHelp: 'Auch deren Bedingungen müssen erfüllt sein. Leer lassen für keine.',
  newTitle: 'Neue Bedingungsmenge',
  newLead:
    'Geben Sie die Bedingungen ein. Die Ergebnisse für die Beispiele werden während der Eingabe aktualisiert. Nichts wird gespeichert, bis Sie die Menge anlegen.',
  create: 'Anlegen',
  createTitle: (name: string) => `${name} anlegen?`,
  createSentence: {
    userset: (name: string) =>
      `Legt die Benutzermenge ${name} an. Sie erlaubt nichts, bis eine Regel sie verwendet. Bedingungen:`,
    resourceset: (name: string) =>
      `Legt die Ressourcenmenge ${name} an. Sie erlaubt nichts, bis eine Regel sie verwendet. Bedingungen:`,
  },
  created: (name: string) => `${name} wurde angelegt.`,
  save: 'Speichern',
  discard: 'Verwerfen',
  saveTitle: (name: string) => `${name} speichern?`,
  saveSentence: (name: string, rules: string) =>
    rules === '1'
      ? `1 Regel verwendet ${name}. Sie wendet die neuen Bedingungen sofort an:`
      : `${rules} Regeln verwenden ${name}. Sie wenden die neuen Bedingungen sofort an:`,
  onlyWords: (name: string) =>
    `Ändert nur Name und Beschreibung von ${name}. Entscheidungen ändern sich nicht.`,
  saved: (name: string) => `${name} wurde gespeichert.`,
  noRuleRests: (name: string) => `Keine Regel verwendet ${name}. Entscheidungen ändern sich nicht.`,
  andMore: (count: string) => `und ${count} weitere`,
  below: (names: readonly string[], count: number) =>
    `Untergeordnete Mengen, die ihre Bedingungen einschließen: ${names.join(', ')}${count > names.length ? ' und andere' : ''}.`,
  delete: 'Löschen',
  deleteTitle: (name: string) => `${name} löschen?`,
  deleteSentence: (name: string, rules: string) =>
    rules === '1'
      ? `Löscht ${name} und die Regel, die sie verwendet. Zugriff, den nur diese Regel erlaubt, wird sofort verweigert:`
      : `Löscht ${name} und die ${rules} Regeln, die sie verwenden. Zugriff, den nur diese Regeln erlauben, wird sofort verweigert:`,
  deleted: (name: string) => `${name} wurde gelöscht.`,
  rule: ['user', ' darf ', 'permission', ' auf ', 'resource', '.'],
  role: (key: string) => `die Rolle ${key}`,
  allOf: (key: string) => `Ressourcen vom Typ ${key}`,
  rules: 'Regeln',
  rulesLead: {
    userset:
      'Benutzer in dieser Menge dürfen die Aktion auf den Ressourcen der Ressourcenmenge ausführen. Regeln verweigern nie den Zugriff.',
    resourceset:
      'Benutzer in der Benutzermenge dürfen die Aktion auf den Ressourcen dieser Menge ausführen. Regeln verweigern nie den Zugriff.',
  },
  noRules: 'Keine Regel verwendet diese Menge, daher erlaubt sie noch nichts.',
  userSide: 'Benutzermenge',
  resourceSide: 'Ressourcenmenge',
  permission: 'Berechtigung',
  permissionHelp: 'Zum Beispiel document:read.',
  userSideHelp: 'Eine Benutzermenge oder eine Mandantenrolle.',
  resourceSideHelp: 'Eine Ressourcenmenge oder ein Ressourcentyp als Ganzes.',
  wholeResource: 'alle Ressourcen',
  tenantRole: 'Rolle',
  actions: 'Aktionen',
  addRule: 'Regel hinzufügen',
  addRuleHelp: 'Wählen Sie beide Werte, um die Regel zu sehen.',
  addRuleSentence: 'Neue Regel:',
  ruleAdded: 'Die Regel wurde hinzugefügt.',
  removeRule: 'Entfernen',
  removeRuleLabel: (user: string, permission: string, resource: string) =>
    `Die Regel ${user}, ${permission}, ${resource} entfernen`,
  removeRuleTitle: 'Regel entfernen?',
  removeRuleSentence: 'Dies ist nicht mehr erlaubt, sofern es keine Rolle oder andere Regel erlaubt:',
  ruleRemoved: 'Die Regel wurde entfernt.',
  conflict: {
    title: 'Ein anderer Benutzer hat diese Menge inzwischen geändert',
    lead: 'Nichts wurde überschrieben. Vergleichen Sie beide Fassungen und fahren Sie mit einer davon fort.',
    theirs: 'Aktuelle Fassung',
    mine: 'Ihre Fassung',
    nothing: '(leer)',
    goOn: 'Mit Ihrer Fassung fortfahren',
    take: 'Aktuelle Fassung verwenden',
  },
  editor: {
    label: 'Bedingungen',
    heard:
      'Bedingungen, in JSON. Drücken Sie Steuerung und Leertaste zum Vervollständigen, F8 für den nächsten Fehler und Tabulator zum Verlassen des Feldes.',
    keys: 'Strg+Leertaste: vervollständigen. F8: nächster Fehler. Tabulator: Feld verlassen.',
    noJson: 'Das ist kein gültiges JSON.',
    findings: (count: number) => `${count} Fehler`,
    line: (line: number) => `Zeile ${line}`,
    words: {
      connectives: { allOf: 'alle sind wahr', anyOf: 'mindestens eine ist wahr', not: 'sie ist nicht wahr' },
      ref: 'ein anderes Attribut',
      operators: {
        equals: 'gleicher Typ und Wert',
        'not-equals': 'anderer Wert',
        'less-than': 'eine Zahl oder Zeit',
        'less-than-equals': 'eine Zahl oder Zeit',
        'greater-than': 'eine Zahl oder Zeit',
        'greater-than-equals': 'eine Zahl oder Zeit',
        between: 'zwei Zahlen oder Zeiten',
        contains: 'enthält diesen Text',
        match: 'passt zu einem Glob-Muster',
        in: 'eines aus einer Liste',
        array_contains: 'enthält dieses Element',
        array_subset: 'alle Elemente sind in der Liste',
        array_superset: 'enthält die ganze Liste',
        array_intersect: 'enthält ein Element der Liste',
        array_len_equals: 'Anzahl der Elemente',
        array_len_greater_than: 'Anzahl der Elemente',
        array_len_less_than: 'Anzahl der Elemente',
        object_match: 'Bedingungen für seine Felder',
        any_match: 'Bedingungen für eines seiner Objekte',
        all_match: 'Bedingungen für alle seine Objekte',
        exists: 'ob es existiert',
      },
    },
  },
  trial: {
    title: 'Ausprobieren',
    lead: {
      userset: 'Ergebnisse der Bedingungen für diese Benutzer während der Eingabe. Nichts wird gespeichert.',
      resourceset:
        'Ergebnisse der Bedingungen für diese Ressourcen während der Eingabe. Nichts wird gespeichert.',
    },
    samples: 'Beispiele',
    summary: (yes: string, no: string, unknown: string) =>
      `Beispiele, die passen: ${yes}; die nicht passen: ${no}; unbekannt: ${unknown}.`,
    add: 'Beispiel hinzufügen',
    remove: 'Entfernen',
    removeLabel: (number: string) => `Beispiel ${number} entfernen`,
    user: (number: string) => `Benutzer des Beispiels ${number}`,
    instance: (number: string) => `Ressource des Beispiels ${number}`,
    moreOfUser: 'Attribute und Ressource',
    moreOfInstance: 'Attribute und Benutzer',
    userAttributes: (number: string) => `Attribute des Benutzers des Beispiels ${number}`,
    instanceAttributes: (number: string) => `Attribute der Ressource des Beispiels ${number}`,
    attributesHelp:
      'Ein JSON-Objekt, zum Beispiel {"department": "sales"}. Es hat Vorrang vor gespeicherten Attributen.',
    surroundings: 'Mandant und Kontext aller Beispiele',
    tenant: 'Mandant',
    tenantHelp:
      'Leer lassen für den Standardmandanten. Gespeicherte Ressourcen werden in ihrem eigenen Mandanten ausgewertet.',
    context: 'Kontext',
    contextHelp: 'Ein JSON-Objekt wie in der Anfrage einer Prüfung.',
    noObject: 'Das ist kein JSON-Objekt. Es wird ignoriert.',
    waiting: 'nicht ausgewertet',
    verdicts: { true: 'passt', false: 'passt nicht', unknown: 'unbekannt: passt nicht' },
    truths: { true: 'wahr', false: 'falsch', unknown: 'unbekannt' },
    tests: (number: string) => `Bedingungen des Beispiels ${number}`,
    missing: 'fehlt',
    found: (value: string) => `gefunden: ${value}`,
    ofSet: (key: string) => `von ${key}`,
    more: 'Es gibt mehr Bedingungen, als angezeigt werden.',
    notStored: {
      user: 'Dieser Benutzer ist nicht gespeichert. Nur die hier eingegebenen Attribute werden verwendet.',
      resource_instance:
        'Diese Ressource ist nicht gespeichert. Nur die hier eingegebenen Attribute werden verwendet.',
    },
    otherResource: 'Die Menge ist auf einen anderen Ressourcentyp beschränkt.',
  },
}

export const modelFileDe: Texts['model']['file'] = {
  title: 'Modelldatei',
  lead: 'Typen, Rollen, Bedingungsmengen und Regeln als Datei. Bewahren Sie sie mit Ihrem Quelltext auf und wenden Sie sie mit „verdict apply“ an.',
  download: 'Herunterladen',
  copied: 'Modelldatei kopiert.',
  heard: 'Modelldatei, in YAML, schreibgeschützt. Drücken Sie Tabulator, um das Feld zu verlassen.',
  size: (lines: string, kibibytes: string) =>
    `${lines} Zeilen, ${kibibytes} KiB. Benutzer, Mandanten und Rollenzuweisungen sind nicht enthalten.`,
  apply: '„verdict apply DATEI“ zeigt alle Änderungen, bevor sie ausgeführt werden.',
}

export const modelCodeDe: Texts['model']['code'] = {
  phrases: {
    Completions: 'Ergänzungen',
    Diagnostics: 'Fehler',
    'No diagnostics': 'Keine Fehler',
    close: 'schließen',
    'Fold line': 'Einklappen',
    'Unfold line': 'Ausklappen',
    'Folded lines': 'Eingeklappte Zeilen',
    'Unfolded lines': 'Ausgeklappte Zeilen',
    to: 'bis',
    'folded code': 'eingeklappt',
    unfold: 'ausklappen',
    'Selection deleted': 'Auswahl gelöscht',
  },
}
