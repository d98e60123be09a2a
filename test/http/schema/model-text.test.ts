/** Export of a model as a model file: applying the file to an empty environment creates the same model. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { API_KEY, FACTS, neighbourOf, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { verdictCommand } from '../../cli/command-line.ts'
import { contentOf } from '../../support/content.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const verdict = await sharedService()
const directory = sharedDirectory()
const file = join(directory, 'model.yaml')

/** Texts that YAML would parse as another type or as syntax. */
const ODD = [
  'yes',
  'NULL',
  '007',
  '1e3',
  '- a',
  'a: b',
  '#',
  '',
  ' ',
  '~',
  '&a',
  '*a',
  '!t',
  '\u0085\ufeff\u2028',
  '\'"\\\n',
  '<b>',
  '🜂',
]

function run(key: string, ...args: readonly string[]) {
  return verdictCommand(args, { env: { VERDICT_URL: verdict.address, VERDICT_KEY: key } })
}

/**
 * Lines of an export that a model file can contain. Omits resources with roles of groups, which are facts.
 */
async function modelIn(path: string, key: string): Promise<string[]> {
  const lines = (await contentOf(verdict, path, key)).split('\n')
  return lines
    .filter(line =>
      /^\{"kind":"(?:user_attributes|resource","key":"document|role|condition_set|rule)"/.test(line),
    )
    .map(line => line.replace(/,"action_groups":\{.*\}(?=\}$)/, ''))
}

test('the model file of an environment without a model is empty', async () => {
  const key = await neighbourOf(verdict, 'bare')
  expect(parse(await contentOf(verdict, '/v2/schema/default/bare/model', key))).toEqual({})
})

test('a model file creates the same model in another environment, and changes nothing in its own', async () => {
  writeFileSync(file, readFileSync(new URL('../../cli/company.yaml', import.meta.url), 'utf8'))
  expect((await run(API_KEY, 'apply', file, '--yes')).code).toBe(0)
  // A condition set and a role with the same key, and texts of all kinds.
  const create = async (path: string, body: unknown) =>
    expect([path, (await verdict.post(path, body)).status]).toEqual([path, expect.toBeOneOf([200, 201])])
  await create(`${SCHEMA}/condition_sets`, {
    key: 'auditor',
    name: '<b>"Auditor"</b>: # yes',
    description: 'Not the role',
    conditions: {
      'user.odd': { in: ODD },
      anyOf: [{ [`user.${'x'.repeat(255)}.${'y'.repeat(255)}`]: { exists: true } }, {}],
    },
  })
  await create(`${SCHEMA}/roles`, {
    key: 'no',
    name: 'true',
    description: ODD.join('|'),
    attributes: { __proto__x: ODD, n: [1.5, 1e300, -1, null, true, {}] },
  })
  const rule = { user_set: 'auditor', permission: 'document:read', resource_set: 'document' }
  await create(`${FACTS}/set_rules`, { ...rule, is_role: true })
  await create(`${FACTS}/set_rules`, rule)
  await create(`${SCHEMA}/resources/document/action_groups`, { key: 'all', name: 'All', actions: ['read'] })

  const headers = { authorization: `Bearer ${API_KEY}` }
  const response = await fetch(`${verdict.address}${SCHEMA}/model`, { headers })
  expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  expect(response.headers.get('x-revision')).toMatch(/^\S+$/)
  const text = await response.text()
  writeFileSync(file, text)

  expect(text).toContain('# Not included, because a model file cannot contain it: 1 action group.\n')
  expect(parse(text).condition_sets.auditor.conditions['user.odd'].in).toEqual(ODD)
  expect(await run(API_KEY, 'apply', file, '--dry-run')).toMatchObject({ code: 0, stderr: '' })
  const key = await neighbourOf(verdict, 'twin')
  const applied = await run(key, 'apply', file, '--yes')
  expect([applied.code, applied.stderr]).toEqual([0, ''])
  const ours = await modelIn('/v2/projects/default/envs/default/export', API_KEY)
  const theirs = await modelIn('/v2/projects/default/envs/twin/export', key)
  expect(theirs).toEqual(ours)
  expect(await contentOf(verdict, '/v2/schema/default/twin/model', key)).toBe(
    text.replace(/^# Not.*\n\n/, ''),
  )
})
