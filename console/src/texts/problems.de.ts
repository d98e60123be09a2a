/** Deutsche Texte für Fehler der API. Danach folgt die englische Meldung des Dienstes. */
import type { ProblemTexts } from './problems.en.ts'

export const problemsDe: ProblemTexts = {
  first: {
    codes: {
      UNAUTHORIZED: 'Der Dienst hat die Anmeldung abgelehnt.',
      FORBIDDEN_ACCESS: 'Dafür fehlt die Berechtigung.',
      NOT_FOUND: 'Nicht gefunden oder nicht mehr vorhanden.',
      DUPLICATE_ENTITY: 'Das existiert bereits.',
      PRECONDITION_FAILED: 'Ein anderer Benutzer hat dies inzwischen geändert.',
      INVALID_INPUT: 'Die Eingabe ist ungültig.',
      INVALID_PERMISSION_FORMAT: 'Eine Berechtigung hat die Form typ:aktion.',
      MISMATCH_RESOURCE_INSTANCES_TENANTS: 'Die Ressourcen gehören zu verschiedenen Mandanten.',
      MISMATCH_RELATION_TYPE: 'Diese Beziehung verbindet andere Typen.',
      CONCURRENT_OPERATION_DISALLOWED:
        'Die Änderung kollidierte mit einer gleichzeitigen Änderung. Versuchen Sie es erneut.',
      UNEXPECTED_ERROR: 'Im Dienst ist ein Fehler aufgetreten.',
    },
    statuses: {
      400: 'Die Eingabe ist ungültig.',
      401: 'Der Dienst hat die Anmeldung abgelehnt.',
      403: 'Dafür fehlt die Berechtigung.',
      404: 'Nicht gefunden oder nicht mehr vorhanden.',
      408: 'Die Anfrage ist nicht rechtzeitig beim Dienst eingetroffen. Versuchen Sie es erneut.',
      409: 'Andere Daten hängen noch davon ab.',
      413: 'Die Anfrage ist zu groß.',
      422: 'Die Angaben haben nicht das richtige Format.',
      429: 'Es wurden zu viele Anfragen gesendet. Versuchen Sie es später erneut.',
      500: 'Im Dienst ist ein Fehler aufgetreten.',
      503: 'Der Dienst ist derzeit nicht verfügbar. Versuchen Sie es erneut.',
    },
  },
  words: 'Meldung des Dienstes:',
  fields: {
    missing: 'Dieses Feld ist erforderlich.',
    tooLong: most => `Der Wert ist zu lang. Erlaubt sind höchstens ${most} Zeichen.`,
    key: most => `Erlaubt sind nur Buchstaben, Ziffern, - und _, höchstens ${most} Zeichen.`,
    moment: 'Das ist kein gültiges Datum mit Uhrzeit.',
    exists: 'Dieser Name wird bereits verwendet.',
    other: 'Die Eingabe ist ungültig.',
  },
}
