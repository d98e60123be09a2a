/** Kinds of settings. A kind parses a value and creates the message for an invalid one. */

export interface SettingKind<Value> {
  /** Default value in the form in which docs/settings.md shows it. */
  readonly shownDefault: string
  readonly meaning: string
  /**
   * Whether the value is secret. A secret can also be read from a file, whose path is in the variable
   * `NAME_FILE`.
   */
  readonly isSecret?: boolean
  /** Parses the text. Throws an `Error` that states the expected form. */
  parse(text: string): Value
  fallback(): Value
}

export interface Setting<As extends string, Value> extends SettingKind<Value> {
  /** Name of the setting in `Config`. */
  readonly as: As
}

export function setting<As extends string, Value>(as: As, kind: SettingKind<Value>): Setting<As, Value> {
  return { as, ...kind }
}

export function word(fallback: string, meaning: string): SettingKind<string> {
  return { shownDefault: `\`${fallback}\``, meaning, parse: nonEmpty, fallback: () => fallback }
}

export function integer(
  fallback: number,
  range: { readonly min: number; readonly max: number },
  meaning: string,
): SettingKind<number> {
  return {
    shownDefault: `\`${fallback}\``,
    meaning,
    parse: value => parseInteger(value, range),
    fallback: () => fallback,
  }
}

/** A secret that must be too long to be guessed. Messages never contain its value. */
export function secret(meaning: string, shownDefault: string): SettingKind<string | null> {
  return { shownDefault, meaning, isSecret: true, parse: parseSecret, fallback: () => null }
}

/** A password for another system. Any text that is not empty is valid. */
export function password(meaning: string): SettingKind<string | null> {
  return { shownDefault: 'none', meaning, isSecret: true, parse: nonEmpty, fallback: () => null }
}

function parseSecret(value: string): string {
  if (!/^[\x21-\x7e]{16,512}$/.test(value)) {
    throw new Error('expected 16 to 512 printable ASCII characters without spaces')
  }
  return value
}

export function nonEmpty(value: string): string {
  if (value === '') throw new Error('expected a value, got empty text; unset it to use the default')
  return value
}

export function parseInteger(value: string, range: { readonly min: number; readonly max: number }): number {
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < range.min || number > range.max) {
    throw new Error(`expected an integer from ${range.min} to ${range.max}, got ${JSON.stringify(value)}`)
  }
  return number
}

/** A setting with a few possible values. The first value is the default. */
export function choice<const Value extends string>(
  values: readonly [Value, ...Value[]],
  meaning: string,
): SettingKind<Value> {
  return {
    shownDefault: `\`${values[0]}\``,
    meaning: `${meaning}: ${values.map(value => `\`${value}\``).join(', ')}`,
    parse: text => {
      const value = values.find(candidate => candidate === text)
      if (value === undefined)
        throw new Error(`expected one of ${values.join(', ')}, got ${JSON.stringify(text)}`)
      return value
    },
    fallback: () => values[0],
  }
}

export function flag(meaning: string, fallback = false): SettingKind<boolean> {
  const parse = (text: string) => {
    if (text !== 'true' && text !== 'false')
      throw new Error(`expected true or false, got ${JSON.stringify(text)}`)
    return text === 'true'
  }
  return { shownDefault: `\`${fallback}\``, meaning, parse, fallback: () => fallback }
}

/** Parses an environment. The text contains the key of the project and the key of the environment. */
export function parseEnvironment(text: string): { readonly project: string; readonly environment: string } {
  const [project, environment, ...rest] = text.split('/')
  if (!project || !environment || rest.length > 0) {
    throw new Error(`expected project/environment, got ${JSON.stringify(text)}`)
  }
  return { project, environment }
}

export function parseList(text: string): string[] {
  const items = text.split(',').map(item => item.trim())
  if (items.includes('')) throw new Error(`expected names separated by commas, got ${JSON.stringify(text)}`)
  return items
}

/**
 * Parses a list of origins. Each origin must have the form that browsers send. A single `*` is also valid.
 */
export function parseOrigins(text: string): readonly string[] {
  const origins = parseList(text)
  const strange = origins.find(origin => origin !== '*' && URL.parse(origin)?.origin !== origin)
  if (strange !== undefined || (origins.includes('*') && origins.length > 1)) {
    throw new Error(`expected * or origins such as https://console.example.com, got ${JSON.stringify(text)}`)
  }
  return origins
}

export function parseUrl(text: string): string {
  const url = URL.parse(text)
  // The text is later used unchanged. Therefore it must not contain parts that the URL parser tolerates, such
  // as blanks or an empty query.
  const isBase = url && /^https?:$/.test(url.protocol) && !/[?#\\\s]/.test(text)
  const hasLogin = url !== null && (url.username !== '' || url.password !== '')
  if (!isBase || hasLogin) {
    // The message is logged, so it must not contain the credentials.
    const found = hasLogin ? 'one with credentials' : JSON.stringify(text)
    throw new Error(`expected an http or https URL without query, fragment or credentials, got ${found}`)
  }
  return text
}

/**
 * Validates headers, which are given as `name=value` and separated by commas. Messages never contain this
 * text.
 */
export function parseHeaders(text: string): string {
  const isHeader = (entry: string): boolean => /^\s*[\w!#$&'*+.^`|~-]+=[\x21-\x7e ]+$/.test(entry)
  if (!text.split(',').every(isHeader)) throw new Error('expected name=value, several separated by commas')
  try {
    decodeURIComponent(text)
  } catch {
    throw new Error('expected name=value; write % in a value as %25')
  }
  return text
}

/** Parses a share: a number greater than 0 and at most 1. */
export function parseShare(text: string): number {
  const share = Number(text)
  if (text.trim() === '' || !(share > 0 && share <= 1)) {
    throw new Error(`expected a number above 0 and at most 1, got ${JSON.stringify(text)}`)
  }
  return share
}
