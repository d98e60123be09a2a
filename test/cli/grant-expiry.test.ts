/** Expiring grants on the command line: in model files with `until`, and by the commands grant and revoke. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FACTS, groupPath, sharedService } from '#testing/processes/running-service.ts'
import { commandFiles, commandsOf, misnamed, verdictCommand } from './command-line.ts'

const { pathOf, written } = commandFiles()
const service = await sharedService()
const run = commandsOf(service)

/** Removes the model and the facts of the previous test. */
async function reset(): Promise<void> {
  const empty = written('users: {}\n', 'empty.yaml')
  const { code, stderr } = await run(['apply', empty, '--prune', '--prune-facts', '--yes'])
  expect([code, stderr]).toEqual([0, ''])
}

interface Shown {
  readonly expires_at?: string
}

/** Stored expiration times of all grants of the file: of groups, then of assignments, then of tuples. */
async function ends(): Promise<(string | null)[]> {
  const staff = groupPath('staff')
  const lists = [`${staff}/users`, `${staff}/children`, `${staff}/roles`]
  const found: Shown[] = []
  for (const path of lists) found.push(...(await service.get<{ data: Shown[] }>(path)).body.data)
  const assigned = await service.get<Shown[]>(`${FACTS}/role_assignments?user=ann&role=auditor&role=writer`)
  const related = await service.get<Shown[]>(`${FACTS}/relationship_tuples?relation=parent`)
  return [...found, ...assigned.body, ...related.body].map(({ expires_at: end = null }) => end)
}

describe('a model file', () => {
  beforeEach(reset)

  /** The model with this time in each `until`, or without `until`. */
  const model = (until: string | null) => {
    const text = `
resources:
  folder: { actions: [read] }
  page: { actions: [read, write], relations: { parent: folder }, roles: { writer: { permissions: [write] } } }
roles: { auditor: { permissions: ['page:read'] } }
users: { ann: , bob: }
groups:
  inner: { members: [bob] }
  staff:
    members: [{ user: ann, until: UNTIL }]
    groups: [{ group: inner, until: UNTIL }]
    roles: [{ role: 'page:p1#writer', until: UNTIL }]
role_assignments:
  - { user: ann, role: auditor, until: UNTIL }
  - { user: ann, role: writer, resource_instance: 'page:p2', until: UNTIL }
relationship_tuples: [{ subject: 'folder:f', relation: parent, object: 'page:p1', until: UNTIL }]
`
    return until === null ? text.replaceAll(', until: UNTIL', '') : text.replaceAll('UNTIL', until)
  }
  const apply = async (until: string | null, ...more: string[]) => {
    const { code, stdout, stderr } = await run(['apply', written(model(until)), ...more])
    expect(stderr).toBe('')
    return { code, steps: JSON.parse(stdout).steps as { mark: string; what: string; details: string[] }[] }
  }
  const told = ({ steps }: Awaited<ReturnType<typeof apply>>) =>
    steps
      .filter(({ what }) => /^(?:group group:staff|assignment|tuple)/.test(what))
      .map(({ mark, what, details }) => [`${mark} ${what}`, ...details])
  const AT = '2131-05-01T10:00:00.000Z'
  const inParts = (mark: string, end: string) => [
    `members: ${mark} ann${end}`,
    `groups: ${mark} group:inner${end}`,
    `roles: ${mark} page:p1#writer${end}`,
  ]
  const facts = ['assignment ann is auditor of tenant default', 'assignment ann is writer of page:p2']
  const tuple = 'tuple folder:f is parent of page:p1'

  test('sets expiration times, changes them and removes them', async () => {
    expect(told(await apply('2131-05-01T12:00:00+02:00', '--yes'))).toEqual([
      ['+ group group:staff', ...inParts('+', ` until ${AT}`)],
      ...[...facts, tuple].map(what => [`+ ${what}`, `until: ${AT}`]),
    ])
    expect(await ends()).toEqual(Array(6).fill(AT))
    expect(await apply(AT, '--prune', '--prune-facts')).toEqual({ code: 0, steps: [] })

    const later = '2132-01-01T00:00:00.000Z'
    expect(told(await apply(later, '--yes'))).toEqual([
      ['~ group group:staff', ...inParts('~', ` until ${later}`)],
      ...[...facts, tuple].map(what => [`~ ${what}`, `until: "${AT}" → "${later}"`]),
    ])
    expect(await ends()).toEqual(Array(6).fill(later))

    expect(told(await apply(null, '--yes'))).toEqual([
      ['~ group group:staff', ...inParts('~', '')],
      ...[...facts, tuple].map(what => [`~ ${what}`, `until: "${later}" → null`]),
    ])
    expect(await ends()).toEqual(Array(6).fill(null))
    expect(await apply(null)).toEqual({ code: 0, steps: [] })
  })

  test('does not create grants whose expiration time is past, and removes them if they exist', async () => {
    const past = '2020-01-01T00:00:00Z'
    expect(told(await apply(past, '--yes'))).toEqual([['+ group group:staff']])
    expect([await ends(), await apply(past)]).toEqual([[], { code: 0, steps: [] }])
    await apply(null, '--yes')
    expect(told(await apply(past, '--yes'))).toEqual([
      ['~ group group:staff', ...inParts('−', '')],
      ...[...facts, tuple].map(what => [`- ${what}`]),
    ])
    expect([await ends(), await apply(past)]).toEqual([[], { code: 0, steps: [] }])
  })

  test('ignores expired grants in its tests', async () => {
    const tests = `
tests:
  - name: before the grant expires
    allow: [{ user: ann, action: write, resource: 'page:p1' }]
    deny: [{ user: ann, action: write, resource: 'page:p1', tenant: elsewhere, unknown: true }]
`
    expect((await run(['test', written(model(AT) + tests)])).code).toBe(0)
    expect((await run(['test', written(model('2020-01-01T00:00:00Z') + tests)])).code).toBe(1)
  })

  test.each([
    ['tomorrow', 'expected an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z, got "tomorrow"'],
    [
      '2131-05-01',
      'expected an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z, got "2131-05-01"',
    ],
    ["'9999-12-31T23:59:59-01:00'", 'must be a time in the years 1970 to 9999 in UTC'],
    ['8', 'expected a text, got 8'],
  ])('is rejected with the location if until is %s', async (until, message) => {
    const { code, stdout, stderr } = await run(['apply', written(model(until)), '--yes'])
    expect([code, stdout]).toEqual([2, ''])
    const lines = stderr.replaceAll(pathOf('model.yaml'), 'FILE').trimEnd().split('\n')
    expect(lines.map(line => line.replace('verdict: ', ''))).toEqual(
      [
        'FILE:10:35: groups.staff.members.0.until',
        'FILE:11:37: groups.staff.groups.0.until',
        'FILE:12:46: groups.staff.roles.0.until',
        'FILE:14:40: role_assignments.0.until',
        'FILE:15:69: role_assignments.1.until',
        'FILE:16:90: relationship_tuples.0.until',
      ].map(place => expect.stringContaining(`${place}: ${message}`)),
    )
  })

  test('is rejected if a map names an unknown entity or has an unknown field', async () => {
    const wrong = model(AT)
      .replace('{ user: ann, until', '{ user: anne, until')
      .replace('{ group: inner, until', '{ group: inter, until')
      .replace("'page:p1#writer', until", "'page:p1#writr', until")
    const { code, stderr } = await run(['apply', written(wrong), '--yes'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/groups\.staff\.members\.0\.user: there is no user "anne"; did you mean "ann"\?/)
    expect(stderr).toMatch(
      /groups\.staff\.groups\.0\.group: there is no group "inter"; did you mean "inner"\?/,
    )
    expect(stderr).toMatch(
      /groups\.staff\.roles\.0\.role: there is no role "writr" of page; did you mean "writer"\?/,
    )
    const mistyped = await run(['apply', written(model(AT).replace('user: ann, until', 'user: ann, untill'))])
    expect(mistyped.stderr).toMatch(/members\.0\.untill: is not a valid key here; did you mean "until"\?/)
  })
})

describe('verdict grant and verdict revoke', () => {
  beforeEach(async () => {
    await reset()
    await service.createDocumentModel()
    await service.tenantRole('auditor', ['document:read'])
    await service.tenant('acme')
    await service.users('anna', 'bob')
    await service.instance('document:d1')
    await service.instance('document:roadmap')
    await service.group('staff')
  })

  const held = async () => {
    const { body } = await service.get<
      (Shown & { role: string; tenant: string; resource_instance: string })[]
    >(`${FACTS}/role_assignments?user=anna`)
    return body.map(({ role, tenant, resource_instance: on, expires_at: end = null }) => [
      role,
      on ?? tenant,
      end,
    ])
  }
  const ofGroup = async () => {
    const { body } = await service.get<{ data: (Shown & { key: string })[] }>(`${groupPath('staff')}/roles`)
    return body.data.map(({ key, expires_at: end = null }) => [key, end])
  }
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args)
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout) as { expires_at: string; changed: boolean }
  }

  test('grant a role on an instance or in a tenant, change and remove its expiration time, and revoke it', async () => {
    const onDocument = ['anna', 'editor', 'on', 'document:d1']
    const until = ['--until', '2131-05-01T12:00:00+02:00']
    const [end, later] = ['2131-05-01T10:00:00.000Z', '2131-05-02T10:00:00.000Z']
    expect(await done('grant', ...onDocument, ...until)).toEqual({
      user: 'anna',
      role: 'editor',
      resource_instance: 'document:d1',
      expires_at: end,
      changed: true,
    })
    expect(await done('grant', ...onDocument, ...until)).toMatchObject({ changed: false })
    await done('grant', 'anna', 'auditor', 'in', 'acme', '--until', later)
    await done('grant', 'anna', 'auditor')
    expect(await held()).toEqual([
      ['editor', 'document:d1', end],
      ['auditor', 'acme', later],
      ['auditor', 'default', null],
    ])
    await done('grant', ...onDocument, '--until', later)
    await done('grant', 'anna', 'auditor', 'in', 'acme')
    expect(await held()).toEqual([
      ['editor', 'document:d1', later],
      ['auditor', 'acme', null],
      ['auditor', 'default', null],
    ])
    for (const changed of [true, false]) {
      expect(await done('revoke', ...onDocument)).toEqual({
        user: 'anna',
        role: 'editor',
        resource_instance: 'document:d1',
        changed,
      })
    }
    await done('revoke', 'anna', 'auditor')
    expect(await held()).toEqual([['auditor', 'acme', null]])
  })

  test('grant a role to a group and revoke it', async () => {
    const grant = ['staff', 'editor', 'on', 'document:d1', '--group']
    expect(await done('grant', ...grant, '--until', '2131-05-01T10:00:00Z')).toEqual({
      group: 'staff',
      role: 'editor',
      resource_instance: 'document:d1',
      expires_at: '2131-05-01T10:00:00.000Z',
      changed: true,
    })
    expect(await ofGroup()).toEqual([['editor', '2131-05-01T10:00:00.000Z']])
    expect(await done('grant', ...grant)).toMatchObject({ expires_at: null, changed: true })
    expect(await done('grant', ...grant)).toMatchObject({ changed: false })
    expect(await ofGroup()).toEqual([['editor', null]])
    expect(await done('revoke', ...grant)).toMatchObject({ changed: true })
    expect(await done('revoke', ...grant)).toMatchObject({ changed: false })
    expect(await ofGroup()).toEqual([])
  })

  test.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['8h', 28_800_000],
    ['5d', 432_000_000],
    ['2w', 1_209_600_000],
  ])('grant a role for %s from now', async (time, milliseconds) => {
    const before = Date.now()
    const { expires_at: end } = await done('grant', 'anna', 'auditor', '--for', time)
    expect(Date.parse(end)).toBeGreaterThanOrEqual(before + milliseconds)
    expect(Date.parse(end)).toBeLessThanOrEqual(Date.now() + milliseconds)
    expect(await held()).toEqual([['auditor', 'default', end]])
  })

  test.each([
    ['‹anna|ana› auditor', 'user'],
    ['anna ‹auditor|auditr›', 'tenant role'],
    ['anna auditor in ‹acme|acmee›', 'tenant'],
    ['anna ‹editor|editr› on document:d1', 'role of document'],
    ['anna editor on ‹document|documnt›:d1', 'resource'],
    ['anna editor on ‹document:roadmap|document:roadmp›', 'instance'],
    ['‹staff|staf› editor on document:d1 --group', 'group'],
    ['‹group:staff|group:staf› editor on document:d1 --group', 'group'],
    ['staff editor on ‹document:roadmap|document:roadmp› --group', 'instance'],
  ])('report an unknown name with a suggestion: %s', async (marked, what) => {
    const { wrong: words, says: message } = misnamed(marked, what)
    const revision = await service.revision()
    for (const command of ['grant', 'revoke']) {
      const { code, stdout, stderr } = await run([command, ...words.split(' ')])
      expect([code, stdout]).toEqual([3, ''])
      const hint =
        command === 'grant' && message.includes('instance')
          ? 'use --tenant to create it in that tenant\n'
          : ''
      expect(stderr).toBe(`verdict: ${message}\n${hint}`)
    }
    expect(await service.revision()).toBe(revision)
  })
})

test.each([
  ['anna', '<role> is missing: verdict grant <user> <role> [on|in] [place]; see verdict grant --help'],
  ['anna auditor at acme', 'on: expected one of "on", "in", got "at"; see verdict grant --help'],
  ['anna auditor in', 'in: expected the key of a tenant after it'],
  ['anna editor on document', 'on: expected type:key, got "document"'],
  ['staff auditor in acme --group', 'a group holds roles on instances only; add the instance: on type:key'],
  [
    'anna auditor --tenant acme',
    '--tenant is only for the creation of an instance; for a tenant role, use: in <tenant>',
  ],
  [
    'anna auditor --for 8h --until 2131-01-01T00:00:00Z',
    '--for and --until exclude each other; use one of them',
  ],
  ...['8', '0h', '-1h', '8y', '1.5h', '521w0', '99999h9', '522w'].map(time => [
    `anna auditor --for=${time}`,
    `--for: expected a number followed by s, m, h, d or w, such as 8h, up to ten years, got "${time}"`,
  ]),
  // `-8h` must not be read as the option `-h` for help, which would exit with 0.
  ['anna auditor --for -8h', '"8h" is an unexpected argument: verdict grant <user> <role> [on|in] [place]'],
  [
    'anna auditor --until tomorrow',
    '--until: expected an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z, got "tomorrow"',
  ],
  [
    'anna auditor --until 9999-12-31T23:59:59-01:00',
    '--until: expected an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z, got "9999-12-31T23:59:59-01:00"',
  ],
  [
    'anna auditor --until 2020-01-01T00:00:00Z',
    '--until: 2020-01-01T00:00:00Z is in the past; use a later time',
  ],
])('verdict grant %s is rejected without a request', async (words, message) => {
  const { code, stdout, stderr } = await verdictCommand(['grant', ...words!.split(' ')])
  expect([code, stdout, stderr]).toEqual([2, '', `verdict: ${message}\n`])
})
