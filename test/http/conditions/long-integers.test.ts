/** Integers beyond 2^53 keep all digits. Conditions treat them as unknown unless a double represents them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { LONG_NUMBERS_MAX } from '#model/limits.ts'
import { ADMIN_KEY, API_KEY, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { EVALUATION, EVALUATIONS, SUBJECTS } from '../../support/calls/access-requests.ts'

const verdict = await sharedService()

/** An integer that no double represents. The nearest double is `EXACT`. */
const INEXACT = '9007199254740993'
const EXACT = '9007199254740992'
/** An integer that a double represents, although JavaScript writes it as 1152921504606847000. */
const LARGE = '1152921504606846976'

async function sent(method: string, path: string, text: string, key = API_KEY) {
  const response = await fetch(`${verdict.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(text !== '' && { body: text }),
  })
  return { status: response.status, warning: response.headers.get('warning'), text: await response.text() }
}
const read = async (path: string) => (await sent('GET', path, '')).text

beforeAll(async () => {
  await verdict.resource({ key: 'account', actions: { read: {}, pay: {}, close: {} } })
  await verdict.conditionSet({ key: 'anybody' })
  for (const [action, operator, number] of [
    ['read', 'equals', EXACT],
    ['pay', 'equals', LARGE],
    ['close', 'not-equals', EXACT],
  ] as const) {
    const set = `{"key":"${action}","name":"${action}","conditions":{"user.account":{"${operator}":${number}}}}`
    expect((await sent('POST', `${SCHEMA}/condition_sets`, set)).status).toBe(200)
    expect(await read(`${SCHEMA}/condition_sets/${action}`)).toContain(`{"${operator}":${number}}`)
    await verdict.setRule(action, `account:${action}`, '__autogen_account')
  }
  for (const [key, account] of Object.entries({ ann: INEXACT, ben: EXACT, cleo: LARGE })) {
    const { status } = await sent(
      'POST',
      `${FACTS}/users`,
      `{"key":"${key}","attributes":{"account":${account}}}`,
    )
    expect(status).toBe(200)
  }
})

/** Returns the decision, after verifying that native and AuthZEN checks agree, single and in lists. */
async function allows(user: string, action: string, account: string | null): Promise<boolean> {
  const attributes = account === null ? '' : `,"attributes":{"account":${account}}`
  const native = `{"user":{"key":"${user}"${attributes}},"action":"${action}","resource":{"type":"account"}}`
  const properties = account === null ? '' : `,"properties":{"account":${account}}`
  const evaluation = `{"subject":{"type":"user","id":"${user}"${properties}},"action":{"name":"${action}"},"resource":{"type":"account"}}`
  // An escape in a member name makes the byte reader leave the body to the JSON parser.
  const parsed = (text: string) => text.replace('"action"', String.raw`"acti\u006fn"`)
  const answers = new Set<boolean>()
  for (const write of [(text: string) => text, parsed]) {
    for (const [path, body] of [
      ['/allowed', write(native)],
      ['/allowed/bulk', `[${write(native)}]`],
      [EVALUATION, write(evaluation)],
      [EVALUATIONS, `{"evaluations":[${write(evaluation)}]}`],
    ] as const) {
      const { text } = await sent('POST', path, body)
      answers.add(/"(allow|decision)":true/.test(text))
    }
  }
  expect(answers.size, `${user} ${action} ${account}`).toBe(1)
  return answers.has(true)
}

describe('a decision', () => {
  test('treats a sent or stored integer as unknown if no double represents it', async () => {
    for (const account of [INEXACT, `${INEXACT}.0`, '9.007199254740993e15', `${INEXACT}0e-1`])
      for (const action of ['read', 'close']) expect(await allows('dan', action, account)).toBe(false)
    for (const action of ['read', 'close']) expect(await allows('ann', action, null)).toBe(false)
    expect(await allows('dan', 'close', `-${INEXACT}`)).toBe(false)
    expect(await allows('dan', 'pay', '1152921504606847000')).toBe(false)
  })

  test.each([
    ['dan', 'read', '9.007199254740992e15'],
    ['dan', 'pay', LARGE],
    ['ben', 'read', null],
    ['cleo', 'pay', null],
    ['cleo', 'close', null],
  ])(
    'compares an integer that a double represents, in any notation: %s %s %s',
    async (user, action, account) => {
      expect(await allows(user, action, account)).toBe(true)
    },
  )

  test('agrees with a search, whichever index the search takes its candidates from', async () => {
    const found = async (name: string) => {
      const body = { subject: { type: 'user' }, action: { name }, resource: { type: 'account', id: 'a' } }
      const { results } = (await verdict.post<{ results: { id: string }[] }>(SUBJECTS, body)).body
      return results.map(({ id }) => id)
    }
    expect(await found('read')).toEqual(['ben'])
    expect(await found('pay')).toEqual(['cleo'])
    expect(await found('close')).toEqual(['cleo'])
  })

  test('is explained with all digits of the value found', async () => {
    const question = `{"user":{"key":"ann"},"action":"read","resource":{"type":"account"}}`
    const { text } = await sent('POST', '/allowed/explain', question)
    expect(text).toContain(INEXACT)
  })
})

describe('a stored integer', () => {
  test.each([
    ['user', 'POST', `${FACTS}/users`, `${FACTS}/users/k`, '"key":"k"'],
    ['tenant', 'POST', `${FACTS}/tenants`, `${FACTS}/tenants/k`, '"key":"k","name":"k"'],
    [
      'instance',
      'POST',
      `${FACTS}/resource_instances`,
      `${FACTS}/resource_instances/account:k`,
      '"key":"k","resource":"account","tenant":"default"',
    ],
    ['role', 'POST', `${SCHEMA}/roles`, `${SCHEMA}/roles/k`, '"key":"k","name":"k"'],
  ])(
    'in the attributes of a %s keeps all digits, and its write returns a warning',
    async (_, method, path, own, fields) => {
      const body = (number: string) => `{${fields},"attributes":{"n":[${number},{"__proto__":${number}}]}}`
      const written = await sent(method, path, body(INEXACT))
      expect([written.status, written.warning]).toEqual([
        200,
        expect.stringMatching(new RegExp(`^299 - "${INEXACT} is beyond 2\\^53.*"$`)),
      ])
      const kept = `{"n":[${INEXACT},{"__proto__":${INEXACT}}]}`
      expect(written.text).toContain(kept)
      expect(await read(own)).toContain(kept)
      expect(await read(path)).toContain(kept)
      const changed = await sent('PATCH', own, `{"attributes":{"n":-${INEXACT}0000000000000000000001}}`)
      expect([changed.status, changed.warning]).toEqual([200, expect.stringContaining(`-${INEXACT}00`)])
      expect(await read(own)).toContain(`{"n":-${INEXACT}0000000000000000000001}`)
      const exact = await sent('PATCH', own, `{"attributes":{"n":${LARGE}}}`)
      expect([exact.status, exact.warning]).toEqual([200, null])
      expect(await read(own)).toContain(`{"n":${LARGE}}`)
    },
  )

  test('is found by a filter with the same digits', async () => {
    const keys = await read(`${FACTS}/users?attr_account=${INEXACT}`)
    expect([keys.includes('"ann"'), keys.includes('"ben"')]).toEqual([true, false])
    expect(await read(`${FACTS}/users?attr_account=${LARGE}`)).toContain('"cleo"')
  })

  test('is exported and imported with all digits, and decisions do not change', async () => {
    const path = '/v2/projects/default/envs/default'
    const exported = await read(`${path}/export`)
    for (const digits of [INEXACT, EXACT, LARGE]) expect(exported).toContain(`"account":${digits}`)
    expect(exported).toContain(`{"equals":${LARGE}}`)
    const { status } = await sent('POST', `${path}/import?replace=true`, exported, ADMIN_KEY)
    expect(status).toBe(200)
    const again = await read(`${path}/export`)
    for (const digits of [INEXACT, EXACT, LARGE]) expect(again).toContain(`"account":${digits}`)
    expect(await allows('ann', 'read', null)).toBe(false)
    expect(await allows('cleo', 'pay', null)).toBe(true)
  })
})

test('a trial of a condition set returns all digits of values in samples and in stored attributes', async () => {
  const trial = `{"conditions":{"user.account":{"equals":${EXACT}}},"samples":[{"attributes":{"account":${INEXACT}}},{"user":"ann"}]}`
  const { status, text } = await sent('POST', `${SCHEMA}/condition_sets/try`, trial)
  expect([status, text.match(/"value":"\w+"/g)]).toEqual([200, Array(4).fill('"value":"unknown"')])
  expect(text.split(`"found":${INEXACT}`)).toHaveLength(3)
  expect(text.split(`"operand":${EXACT}`)).toHaveLength(3)
})

test('an operand that no double represents is rejected with 422, its position and its digits', async () => {
  const set = `{"key":"k","name":"k","conditions":{"user.account":{"equals":${INEXACT}}}}`
  const { status, text } = await sent('POST', `${SCHEMA}/condition_sets`, set)
  expect([status, JSON.parse(text)]).toEqual([
    422,
    expect.objectContaining({
      detail: [
        expect.objectContaining({
          loc: ['body', 'conditions', 'user.account', 'equals'],
          msg: expect.stringContaining(`got ${INEXACT}:`),
        }),
      ],
    }),
  ])
})

test('a body has at most LONG_NUMBERS_MAX numbers beyond 2^53', async () => {
  const numbers = Array.from({ length: LONG_NUMBERS_MAX + 1 }, () => INEXACT).join()
  const { status, text } = await sent(
    'POST',
    `${FACTS}/users`,
    `{"key":"many","attributes":{"n":[${numbers}]}}`,
  )
  expect([status, text]).toEqual([422, expect.stringContaining(`more than ${LONG_NUMBERS_MAX} numbers`)])
})
