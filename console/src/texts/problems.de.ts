/** Fehler der Schnittstelle, auf Deutsch. Der Dienst selbst spricht Englisch: was er zu einer Anfrage sagt, steht dahinter. */
import type { ProblemTexts } from './problems.en.ts'

export const problemsDe: ProblemTexts = {
  first: {
    codes: {
      UNAUTHORIZED: 'Der Dienst nimmt diesen Schlüssel nicht an.',
      FORBIDDEN_ACCESS: 'Dieser Schlüssel darf das nicht.',
      NOT_FOUND: 'Das gibt es nicht, oder nicht mehr.',
      DUPLICATE_ENTITY: 'Das gibt es schon.',
      PRECONDITION_FAILED: 'Jemand anders hat dies inzwischen geändert.',
      INVALID_INPUT: 'So nimmt der Dienst es nicht an.',
      INVALID_PERMISSION_FORMAT: 'Eine Berechtigung wird als typ:aktion geschrieben.',
      MISMATCH_RESOURCE_INSTANCES_TENANTS: 'Die Ressourcen gehören zu verschiedenen Mandanten.',
      MISMATCH_RELATION_TYPE: 'Diese Beziehung verbindet andere Typen.',
      CONCURRENT_OPERATION_DISALLOWED:
        'Andere haben zur selben Zeit etwas geändert. Versuchen Sie es noch einmal.',
      UNEXPECTED_ERROR: 'Im Dienst ist etwas schiefgegangen.',
    },
    statuses: {
      400: 'So nimmt der Dienst es nicht an.',
      401: 'Der Dienst nimmt diesen Schlüssel nicht an.',
      403: 'Dieser Schlüssel darf das nicht.',
      404: 'Das gibt es nicht, oder nicht mehr.',
      408: 'Die Anfrage kam nicht rechtzeitig beim Dienst an. Versuchen Sie es noch einmal.',
      409: 'Anderes beruht noch darauf.',
      413: 'Das ist zu groß.',
      422: 'Die Angaben haben nicht die richtige Form.',
      429: 'Mit diesem Schlüssel kamen zu viele Anfragen. Warten Sie einen Augenblick.',
      500: 'Im Dienst ist etwas schiefgegangen.',
      503: 'Der Dienst kann das gerade nicht. Versuchen Sie es noch einmal.',
    },
  },
  words: 'Der Dienst sagt:',
  fields: {
    missing: 'Diese Angabe fehlt.',
    tooLong: most => `Das ist zu lang: Erlaubt sind höchstens ${most} Zeichen.`,
    key: most => `Erlaubt sind nur Buchstaben, Ziffern, - und _, höchstens ${most} Zeichen.`,
    moment: 'Das ist kein Datum mit Uhrzeit.',
    exists: 'Das gibt es schon.',
    other: 'So nimmt der Dienst diese Angabe nicht an.',
  },
}
