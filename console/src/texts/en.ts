/**
 * What the console says, in English. Another language is a file like this one (`de.ts`) and its line in `languages.ts`. Texts with a gap
 * are functions, so that each language puts the words in its own order. A section a page.
 */

const things = (count: string, one: string, many: string): string => `${count} ${count === '1' ? one : many}`

export const en = {
  parts: {
    search: 'Search',
    more: 'Show more',
    shown: (shown: string) => `${shown} shown`,
    shownOf: (shown: string, total: string) => `${shown} of ${total}`,
    loading: 'Loading',
    messages: 'Messages',
    undo: 'Undo',
    undone: 'Undone: it is as it was.',
    dismiss: 'Dismiss',
    cancel: 'Cancel',
    unreachable: 'The service does not answer. Nothing was changed; try again in a moment.',
    stale:
      'Somebody else changed this meanwhile. Nothing of yours was written: look at what is there now, and try again.',
    defect: (message: string) => `Something went wrong in the console: ${message}`,
    ends: 'Ends',
    endMoment: 'On',
    lasts: 'lasts',
    until: (moment: string) => `until ${moment}`,
    spans: {
      never: 'never',
      hour: 'in an hour',
      workday: 'in eight hours',
      day: 'in a day',
      week: 'in a week',
      month: 'in 30 days',
      moment: 'at a moment…',
    },
    copy: 'Copy',
    copied: 'Copied',
    notFound: 'There is no such page.',
  },
  shell: {
    signIn: 'Sign in',
    signOut: 'Sign out',
    key: 'API key',
    keyHelp:
      'It stays in this tab: it is in no address, and is forgotten when you sign out or close the tab.',
    keyRefused: 'The service does not take this key. It may have been rotated or revoked.',
    signInLead: 'Who may do what, why, and until when.',
    skip: 'To the content',
    navigation: 'Pages',
    language: 'Language',
    theme: 'Colours',
    themes: { auto: 'as the system', light: 'light', dark: 'dark' },
    environment: 'Environment',
    chooseEnvironment: 'Choose an environment',
    chooseEnvironmentLead:
      'This key may manage several. It manages, and does not decide: to ask whether something is allowed, sign in with the key of an environment.',
    noEnvironments: 'There is none yet.',
    ownEnvironment: 'the environment of this key',
    live: {
      live: 'Changes of others appear by themselves.',
      connecting: 'Looking for changes of others…',
      off: 'Changes of others appear when you reload.',
    },
    pages: {
      questions: 'Why?',
      groups: 'Groups',
      model: 'Model',
      access: 'Access',
      audit: 'Audit log',
      keys: 'Keys',
      operations: 'Operations',
    },
  },
  questions: {},
  groups: {},
  model: {
    tabs: {
      label: 'Views of the model',
      graph: 'Graph',
      matrix: 'Permissions',
      sets: 'Condition sets',
      file: 'Model file',
    },
    graph: {},
    matrix: {},
    sets: {},
    file: {},
  },
  access: {},
  operations: {},
}

export type Texts = typeof en
export { things }
