/** Deutsche Texte zur Anmeldung von Mitgliedern, zu ihrem Konto und ihren Sitzungen. */
import type { accountEn } from './account.en.ts'

export const accountDe: typeof accountEn = {
  signIn: {
    withIssuer: issuer => `Mit ${issuer} anmelden`,
    again: 'Erneut versuchen',
    refusals: {
      denied: issuer =>
        `${issuer} hat die Anmeldung nicht erlaubt. Wenn Sie sie abgebrochen haben, versuchen Sie es erneut.`,
      expired: () =>
        'Die Anmeldung hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Melden Sie sich erneut an.',
      failed: issuer =>
        `Die Anmeldung ist fehlgeschlagen, weil die Antwort von ${issuer} ungültig war. Versuchen Sie es erneut. Wenn der Fehler bleibt, wenden Sie sich an den Betreiber.`,
      unavailable: issuer =>
        `Die Anmeldung ist derzeit nicht verfügbar, weil ${issuer} oder dieser Dienst sie nicht abschließen konnte. Versuchen Sie es später erneut.`,
      not_a_member: issuer =>
        `Sie sind bei ${issuer} angemeldet, haben aber keinen Zugang zu diesem Dienst. Bitten Sie einen Administrator um eine Einladung.`,
      invite: () =>
        'Die Einladung wurde nicht angenommen. Möglicherweise ist sie abgelaufen oder gilt für eine andere E-Mail-Adresse. Melden Sie sich mit der eingeladenen, bestätigten Adresse an oder bitten Sie um eine neue Einladung.',
    },
    noCookie:
      'Sie haben sich angemeldet, aber der Browser hat keine Sitzung gesendet. Öffnen Sie die Konsole unter ihrer öffentlichen Adresse und erlauben Sie Cookies.',
    ended: 'Ihre Sitzung ist beendet. Melden Sie sich erneut an, um an derselben Stelle fortzufahren.',
    signedOut: 'Sie sind abgemeldet.',
    stillAtIssuer: issuer => `Möglicherweise sind Sie bei ${issuer} noch angemeldet.`,
    signOutAtIssuer: issuer => `Bei ${issuer} abmelden`,
  },
  invitation: {
    lead: 'Sie sind eingeladen, mit Verdict Berechtigungen zu verwalten.',
    text: issuer =>
      `Melden Sie sich mit ${issuer} an, um die Einladung anzunehmen. Verwenden Sie die eingeladene E-Mail-Adresse.`,
    signedIn: name => `Sie sind derzeit als ${name} angemeldet.`,
    skip: 'Ohne Annahme fortfahren',
    off: 'Die Anmeldung ist für diesen Dienst nicht eingeschaltet. Wenden Sie sich an den Betreiber.',
  },
  ends: {
    idle: 'Sie werden bald abgemeldet, weil Sie die Konsole eine Weile nicht benutzt haben.',
    stay: 'Angemeldet bleiben',
    last: moment =>
      `Ihre Sitzung endet am ${moment}. Speichern Sie Ihre Änderungen und melden Sie sich danach erneut an.`,
  },
  tooLowTitle: 'Für Sie nicht verfügbar',
  tooLow: (needed, held) =>
    `Dafür ist die Stufe „${needed}“ oder höher nötig. Ihre Stufe ist hier „${held}“.`,
  noGrants: 'Sie haben hier derzeit keine Berechtigungen. Bitten Sie einen Administrator um Zugang.',
  delegated: 'Das ist mit einer Berechtigung, die auf Mandanten begrenzt ist, nicht möglich.',
  missingLevel: (needed, held) => `Es fehlt die Stufe ${needed} oder höher; die Stufe ist ${held}.`,
  linkOf: name => `Ihr Konto: ${name}`,
  title: 'Ihr Konto',
  lead: 'Ihre Identität, Ihre Berechtigungen und die Browser, in denen Sie angemeldet sind.',
  person: 'Person',
  name: 'Name',
  email: 'E-Mail',
  subject: 'Kennung beim Aussteller',
  issuer: 'Aussteller',
  signedIn: 'Angemeldet',
  expires: 'Sitzung endet spätestens',
  groups: 'Gruppen mit Berechtigungen',
  groupsCut: 'Der Aussteller hat zu viele oder unlesbare Gruppen gesendet, daher fehlen einige.',
  grants: 'Ihre Berechtigungen',
  grantsLead: 'Administratoren ändern Berechtigungen auf der Seite Mitglieder.',
  sessions: 'Ihre Sitzungen',
  sessionsLead: 'Browser, in denen Sie angemeldet sind. Beenden Sie jede Sitzung, die Sie nicht kennen.',
  browser: 'Browser',
  unknownBrowser: 'unbekannter Browser',
  browserOn: (browser, system) => `${browser} unter ${system}`,
  current: 'diese Sitzung',
  lastUsed: 'Zuletzt verwendet',
  ends_at: 'Endet',
  end: 'Beenden',
  sessionOf: (browser, begun) => `${browser} (angemeldet ${begun})`,
  endOf: session => `Sitzung von ${session} beenden`,
  endSentence: session => `Meldet ${session} sofort ab. Nicht gespeicherte Änderungen gehen dort verloren.`,
  ended: 'Die Sitzung wurde beendet.',
  endOthers: 'Alle anderen beenden',
  endOthersSentence: 'Meldet alle anderen Browser sofort ab. Diese Sitzung bleibt bestehen.',
  othersEnded: 'Alle anderen Sitzungen wurden beendet.',
  noSessions: 'Es gibt keine Sitzungen.',
}
