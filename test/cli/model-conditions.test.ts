/** Condition sets and rules in model files and on the command line, against a running service. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '#cli/session/api.ts'
import { InProcessApi } from '#cli/session/in-process-api.ts'
import { applyPlan } from '#cli/model-file/apply-plan.ts'
import { EnvironmentState } from '#cli/model-file/environment-state.ts'
import { desiredState } from '#cli/model-file/desired-state.ts'
import { planOf } from '#cli/model-file/plan.ts'
import { readModelFile } from '#cli/model-file/read-model-file.ts'
import { neighbourOf, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, commandsOf, verdictCommand } from './command-line.ts'

const service = await sharedService()
const { pathOf, written } = commandFiles()
let key: string

const MODEL = `
user_attributes: { level: { type: number } }
resources:
  page: { actions: [read, write], attributes: { draft: { type: bool } } }
  image: { actions: [read] }
roles: { editor: }
condition_sets:
  # Listed before its parent.
  senior: { parent: inside, conditions: { user.level: { greater-than: 2 } } }
  inside: { name: People of the house, conditions: { user.inside: { equals: true } } }
  finished: { type: resourceset, resource: page, conditions: { resource.draft: { equals: false } } }
rules:
  - { user_set: inside, permission: 'page:read', resource_set: finished }
  - { user_set: senior, permission: 'page:write', resource_set: page }
  - { user_set: editor, permission: 'page:write', resource_set: finished }
users: { ann: { attributes: { inside: true, level: 2 } }, bea: }
instances: { 'page:home': { attributes: { draft: false } } }
role_assignments: [{ user: bea, role: editor }]
`

beforeAll(async () => {
  key = await neighbourOf(service, 'conditions-by-file')
  expect((await run(['apply', written(MODEL), '--yes'])).code).toBe(0)
})

const run = (args: readonly string[], stdin = '') => commandsOf(service)(args, { key, stdin })

async function stepsOf(text: string, ...more: string[]): Promise<unknown[]> {
  return JSON.parse((await run(['apply', written(text), ...more])).stdout).steps
}

/** Applies the model to a new environment, whose key the commands use until the work is done. */
async function inCopy(name: string, work: () => Promise<void>): Promise<void> {
  const before = key
  key = await neighbourOf(service, name)
  try {
    expect((await run(['apply', written(MODEL), '--yes'])).code).toBe(0)
    await work()
  } finally {
    key = before
  }
}

const ALL = { model: true, facts: true }

/** The model with names of roles and resources as in an export. */
const EXPORTED = MODEL.replace('user_set: editor', 'user_set: __autogen_editor').replace(
  'resource_set: page }',
  'resource_set: __autogen_page }',
)

describe('verdict apply', () => {
  test('creates sets and rules that are effective, and changes nothing when it is repeated', async () => {
    expect(await stepsOf(MODEL)).toEqual([])
    expect(await stepsOf(MODEL, '--prune')).toEqual([])
    for (const [user, action, code] of [
      ['ann', 'read', 0],
      ['ann', 'write', 1],
      ['bea', 'read', 1],
      ['bea', 'write', 0],
    ] as const) {
      expect([user, action, (await run(['check', user, action, 'page:home'])).code]).toEqual([
        user,
        action,
        code,
      ])
    }
  })

  test('prints each warning of the service once with all its rules', () =>
    inCopy('conditions-warned', async () => {
      const more = MODEL.replace(
        'rules:\n',
        "rules:\n  - { user_set: inside, permission: 'page:write', resource_set: finished }\n  - { user_set: senior, permission: 'image:read', resource_set: image }\n  - { user_set: senior, permission: 'page:read', resource_set: finished }\n",
      )
      const { stderr } = await run(['apply', written(more), '--yes', '--output', 'table'])
      expect(stderr.match(/^warning: neither set has a condition on tenants, .+$/gm)).toHaveLength(1)
      expect(stderr.split('\n').slice(-4)).toEqual([
        '    rule inside may page:write on finished',
        '    rule senior may image:read on any image',
        '    rule senior may page:read on finished',
        '',
      ])
      const tested = await verdictCommand(['test', written(MODEL)])
      expect(JSON.parse(tested.stdout)[0].warnings.map(({ what }: { what: string }) => what)).toEqual([
        'rule inside may page:read on finished',
        'rule senior may page:write on any page',
      ])
    }))

  test('shows changes of a set, and resets omitted fields', async () => {
    const changed = MODEL.replace(
      'name: People of the house, conditions: { user.inside: { equals: true } }',
      '',
    ).replace(
      'parent: inside, conditions: { user.level: { greater-than: 2 }',
      'conditions: { user.level: { less-than: 9 }',
    )
    expect(await stepsOf(changed)).toEqual([
      {
        mark: '~',
        what: 'condition set senior',
        details: [
          'conditions: {"user.level":{"greater-than":2}} → {"user.level":{"less-than":9}}',
          'parent: inside → none',
        ],
      },
      {
        mark: '~',
        what: 'condition set inside',
        details: ['conditions: {"user.inside":{"equals":true}} → {}'],
      },
    ])
  })

  test('removes sets and rules only with --prune: rules first, then child sets, then parent sets', () =>
    inCopy('conditions-pruned', async () => {
      const [head, tail] = [MODEL.split('condition_sets:')[0]!, MODEL.split('users:')[1]!]
      const without = `${head}users:${tail}`
      expect(await stepsOf(without)).toEqual([])
      const steps = (await stepsOf(without, '--prune', '--yes')) as { mark: string; what: string }[]
      expect(steps.map(({ mark, what }) => `${mark} ${what}`)).toEqual([
        '- rule inside may page:read on finished',
        '- rule senior may page:write on any page',
        '- rule role editor may page:write on finished',
        '- condition set finished',
        '- condition set senior',
        '- condition set inside',
      ])
      expect(await stepsOf(without, '--prune')).toEqual([])
      expect((await run(['check', 'ann', 'read', 'page:home'])).code).toBe(1)
    }))

  test('never allows a check that the old and the new state both deny: it removes old rules first and adds new rules last', async () => {
    const api = await InProcessApi.open()
    try {
      const calls: string[] = []
      const recording: Api = {
        send: (method, path, body) => {
          calls.push(`${method} ${path.split('/default/default/')[1]}`)
          return api.send(method, path, body)
        },
      }
      const first = desiredState(readModelFile(EXPORTED, 'first'))
      const empty = new EnvironmentState()
      empty.tenants.set('default', {})
      await applyPlan(recording, 'default/default', planOf(empty, first, ALL), () => {})
      calls.length = 0
      // A set becomes wider and loses a rule, another set gets the rule, and the attributes of a user change.
      const second = EXPORTED.replace('{ user.inside: { equals: true } }', '{}')
        .replace("user_set: inside, permission: 'page:read'", "user_set: guests, permission: 'page:read'")
        .replace('  finished:', '  guests: { conditions: { user.inside: { equals: false } } }\n  finished:')
        .replace('inside: true, level: 2', 'inside: false, level: 2')
      const wanted = desiredState(readModelFile(second, 'second'))
      await applyPlan(recording, 'default/default', planOf(first, wanted, ALL), () => {})
      expect(calls).toEqual([
        'DELETE set_rules/bulk',
        'PATCH condition_sets/inside',
        'POST condition_sets',
        'PATCH users/ann',
        'POST set_rules/bulk',
      ])
    } finally {
      await api.close()
    }
  })

  test.each([
    [
      'has another type',
      MODEL,
      'condition_sets: { inside: { type: resourceset } }',
      'model.yaml:1:19: condition_sets.inside: condition set inside is a userset and cannot become a resourceset',
    ],
    [
      'has another resource',
      'resource: page, conditions',
      'resource: image, conditions',
      'is limited to page, which cannot become image',
    ],
    ['is its own ancestor', 'inside: { name', 'inside: { parent: senior, name', 'is among its own parents'],
  ])('rejects impossible changes: a set that %s', async (_, from, to, why) => {
    const { code, stderr } = await run(['apply', written(MODEL.replace(from, to)), '--yes'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
  })

  test('resolves a name to the entity in the file, even if the environment has another entity of that name', () =>
    inCopy('conditions-of-one-name', async () => {
      const set = 'condition_sets: { clerk: { conditions: { user.inside: { equals: false } } } }\n'
      expect((await run(['apply', written(set), '--yes'])).code).toBe(0)
      const role =
        "roles: { clerk: }\nrules: [{ user_set: clerk, permission: 'image:read', resource_set: image }]\n"
      const steps = (await stepsOf(role)) as { what: string }[]
      expect(steps.map(({ what }) => what)).toEqual([
        'role clerk',
        'rule role clerk may image:read on any image',
      ])
      const both = (await stepsOf(set + role)) as { what: string }[]
      expect(both.map(({ what }) => what)).toEqual(['role clerk', 'rule clerk may image:read on any image'])
    }))

  test('reports an invalid condition with its location and a suggestion', async () => {
    const wrong = MODEL.replace('{ greater-than: 2 }', '{ greater-then: 2 }')
    const place = `${pathOf('model.yaml')}:9:57: condition_sets.senior.conditions.user.level.greater-then`
    expect(await run(['apply', written(wrong), '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `${place}: there is no operator "greater-then"; did you mean "greater-than"?`,
      ),
    })
  })
})

describe('an export', () => {
  test('contains sets and rules, which import and load create in another environment', async () => {
    const { stdout: lines } = await run(['export'])
    const model = lines.split('\n').filter(line => /"kind":"(condition_set|rule)"/.test(line))
    expect(model).toHaveLength(6)
    const before = key
    try {
      key = await neighbourOf(service, 'conditions-imported')
      expect((await run(['import', '-'], lines)).code).toBe(0)
      expect(await stepsOf(MODEL, '--prune', '--prune-facts')).toEqual([])
      key = await neighbourOf(service, 'conditions-loaded')
      const [head, tail] = [MODEL.split('condition_sets:')[0]!, MODEL.split('users:')[1]!]
      expect((await run(['apply', written(`${head}users:${tail}`), '--yes'])).code).toBe(0)
      for (const round of ['once', 'again']) {
        const { code, stdout } = await run(['load', '-'], model.join('\n'))
        expect([round, code, JSON.parse(stdout)]).toEqual([
          round,
          0,
          { loaded: { condition_set: 3, rule: 3 } },
        ])
        expect(await stepsOf(MODEL, '--prune', '--prune-facts')).toEqual([])
      }
      const changed = model[0]!.replace('People of the house', 'Insiders').replace('true', 'false')
      expect((await run(['load', '-'], changed)).code).toBe(0)
      expect(await stepsOf(MODEL)).toEqual([
        {
          mark: '~',
          what: 'condition set inside',
          details: [
            'name: "Insiders" → "People of the house"',
            'conditions: {"user.inside":{"equals":false}} → {"user.inside":{"equals":true}}',
          ],
        },
      ])
      const turned = model[0]!.replace('userset', 'resourceset')
      expect(await run(['load', '-'], turned)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('condition set inside exists with another type'),
      })
    } finally {
      key = before
    }
  })
})

describe('conditional checks', () => {
  test('can be lines of JSON for verdict bulk', async () => {
    const question = { user: 'bea', action: 'read', resource: 'page:home' }
    const lines = [
      question,
      { ...question, attributes: { user: { inside: true } }, context: { network: 'office' } },
    ]
    const stdin = lines.map(line => JSON.stringify(line)).join('\n')
    const answers = JSON.parse((await run(['bulk', '-'], stdin)).stdout)
    expect(answers).toEqual([
      { ...lines[0], allow: false },
      { ...lines[1], allow: true },
    ])
    for (const [wrong, why] of [
      [{ attributes: { users: {} } }, 'expected "attributes" with "user", "resource" or both'],
      [{ context: 7 }, 'expected "context" to be an object'],
    ] as const) {
      expect(await run(['bulk', '-'], JSON.stringify({ ...question, ...wrong }))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      })
    }
  })

  test('that fail in tests are reported with their attributes and context', async () => {
    const tests = `${MODEL}tests:
  - name: only insiders read
    deny:
      - { user: bea, action: read, resource: 'page:home', attributes: { user: { inside: true } }, context: { a: 1 } }
`
    const { code, stdout } = await verdictCommand(['test', written(tests), '--output', 'table'])
    expect(code).toBe(1)
    expect(stdout.split('\n').slice(2, 5)).toEqual([
      '      bea may not read page:home with user {"inside":true}, context {"a":1}',
      '        was allowed',
      '        by rules: inside on finished allows it',
    ])
  })
})
