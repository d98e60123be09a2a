/** English texts about the sign-in of members, their account and their sessions. */
export const accountEn = {
  signIn: {
    withIssuer: (issuer: string) => `Sign in with ${issuer}`,
    again: 'Try again',
    refusals: {
      denied: (issuer: string) => `${issuer} did not allow the sign-in. If you canceled it, try again.`,
      expired: () => 'The sign-in took too long, or it was started in another browser. Sign in again.',
      failed: (issuer: string) =>
        `The sign-in failed because the response of ${issuer} was not valid. Try again. If the error persists, contact your operator.`,
      unavailable: (issuer: string) =>
        `The sign-in is not available at the moment, because ${issuer} or this service could not complete it. Try again later.`,
      not_a_member: (issuer: string) =>
        `You are signed in at ${issuer}, but you have no access to this service. Ask an administrator for an invitation.`,
      invite: () =>
        'The invitation was not accepted. It might have expired, or it is for another e-mail address. Sign in with the invited, verified address, or ask for a new invitation.',
    },
    noCookie:
      'You signed in, but the browser sent no session. Open the console at its public address, and allow cookies.',
    ended: 'Your session has ended. Sign in again to continue where you were.',
    signedOut: 'You are signed out.',
    stillAtIssuer: (issuer: string) => `You might still be signed in at ${issuer}.`,
    signOutAtIssuer: (issuer: string) => `Sign out at ${issuer}`,
  },
  invitation: {
    lead: 'You are invited to manage permissions with Verdict.',
    text: (issuer: string) =>
      `Sign in with ${issuer} to accept the invitation. Use the e-mail address that was invited.`,
    signedIn: (name: string) => `You are currently signed in as ${name}.`,
    skip: 'Continue without accepting',
    off: 'Sign-in is not switched on for this service. Contact your operator.',
  },
  ends: {
    idle: 'You will be signed out soon, because you have not used the console for a while.',
    stay: 'Stay signed in',
    last: (moment: string) =>
      `Your session ends on ${moment}. Save your changes, and sign in again afterwards.`,
  },
  tooLowTitle: 'Not available to you',
  tooLow: (needed: string, held: string) =>
    `This needs the level “${needed}” or above. Your level here is “${held}”.`,
  noGrants: 'You have no grants here at the moment. Ask an administrator for access.',
  delegated: 'This is not possible with a grant that is limited to tenants.',
  missingLevel: (needed: string, held: string) =>
    `The level ${needed} or above is missing; the level is ${held}.`,
  linkOf: (name: string) => `Your account: ${name}`,
  title: 'Your account',
  lead: 'Your identity, your grants, and the browsers in which you are signed in.',
  person: 'Person',
  name: 'Name',
  email: 'E-mail',
  subject: 'Identifier at the issuer',
  issuer: 'Issuer',
  signedIn: 'Signed in',
  expires: 'Session ends at the latest',
  groups: 'Groups with grants',
  groupsCut: 'The issuer sent too many groups or unreadable ones, so some of them are missing.',
  grants: 'Your grants',
  grantsLead: 'Administrators change grants on the page Members.',
  sessions: 'Your sessions',
  sessionsLead: 'Browsers in which you are signed in. End each session that you do not recognize.',
  browser: 'Browser',
  unknownBrowser: 'unknown browser',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  current: 'this session',
  lastUsed: 'Last used',
  ends_at: 'Ends',
  end: 'End',
  sessionOf: (browser: string, begun: string) => `${browser} (signed in ${begun})`,
  endOf: (session: string) => `End the session of ${session}`,
  endSentence: (session: string) => `Signs out ${session} immediately. Unsaved changes there are lost.`,
  ended: 'The session was ended.',
  endOthers: 'End all other sessions',
  endOthersSentence: 'Signs out all other browsers immediately. This session continues.',
  othersEnded: 'All other sessions were ended.',
  noSessions: 'There are no sessions.',
}
