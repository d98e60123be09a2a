/** Commands against a running service: their effect, output and exit codes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  type Envelope,
  neighbourOf,
  sharedService,
} from '#testing/processes/running-service.ts'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { VERSION } from '#model/version.ts'
import { commandFiles, commandsOf, shellCommand, verdictCommand } from './command-line.ts'

const COMPANY = fileURLToPath(new URL('company.yaml', import.meta.url))
const company = readFileSync(COMPANY, 'utf8')
const { directory, pathOf, written } = commandFiles()
const service = await sharedService()
const run = commandsOf(service)

/** Output of a command on a terminal. */
async function table(args: readonly string[], options = {}): Promise<string> {
  const { code, stdout, stderr } = await run([...args, '--output', 'table'], options)
  expect([code, stderr.includes('verdict:')]).toEqual([expect.toBeOneOf([0, 1]), false])
  return stdout
}

beforeAll(async () => {
  const { code, stdout } = await run(['apply', COMPANY, '--yes'])
  expect([code, JSON.parse(stdout).applied]).toEqual([0, true])
})

describe('verdict apply', () => {
  test('changes nothing when it is repeated', async () => {
    for (const more of [[], ['--prune'], ['--prune', '--prune-facts', '--yes']]) {
      const { code, stdout } = await run(['apply', COMPANY, ...more])
      expect([more, code, JSON.parse(stdout)]).toEqual([more, 0, { steps: [], applied: false }])
    }
  })

  test('shows the plan; without confirmation it changes nothing and its exit code states this', async () => {
    const changed = written(
      company
        .replace('name: Folder', 'name: Binder')
        .replace('actions: [read, write]', 'actions: [read, write, share]')
        .replace(
          'extends: [viewer] }',
          'extends: [viewer], granted_to: { when: { no_direct_roles_on_object: true } } }',
        )
        .replace('  bob:\n', '  bob: { first_name: Bob }\n  erin:\n')
        .replace('members: [carol]', 'members: [carol, erin]')
        .replace('are: [bob, carol]', 'are: [bob, carol, erin]'),
      'changed.yaml',
    )
    const plan = [
      '~ resource folder',
      '    name: "Folder" → "Binder"',
      '~ role folder#editor',
      '    applies only without direct roles: false → true',
      '+ action folder:share',
      '~ user bob',
      '    first_name: null → "Bob"',
      '+ user erin',
      '~ group group:platform',
      '    members: + erin',
    ]
    for (const more of [[], ['--dry-run', '--yes']]) {
      const { code, stdout, stderr } = await run(['apply', changed, ...more, '--output', 'table'])
      expect(
        stderr
          .split('\n')
          .filter(line => plan.includes(line))
          .toSorted(),
      ).toEqual(plan.toSorted())
      expect(stderr).toContain('2 to add, 4 to change, 0 to remove')
      expect([code, stdout]).toEqual([1, `Nothing was changed.${more[0] ? '' : ' Add --yes to apply.'}\n`])
    }
    expect((await run(['apply', COMPANY])).code).toBe(0)
    const done = await run(['apply', changed, '--yes'])
    expect([done.code, JSON.parse(done.stdout).applied]).toEqual([0, true])
    expect((await run(['apply', changed])).code).toBe(0)
    const back = await run(['apply', COMPANY, '--yes', '--prune', '--prune-facts'])
    const removed = JSON.parse(back.stdout).steps.filter(({ mark }: { mark: string }) => mark === '-')
    expect(removed.map(({ what }: { what: string }) => what).toSorted()).toEqual([
      'action folder:share',
      'user erin',
    ])
    expect(JSON.parse((await run(['list', 'actions', 'bob', 'folder:specs'])).stdout)).toEqual([
      'read',
      'write',
    ])
  })

  test('removes entities that are missing in the file only with --prune, and keeps those that groups need', async () => {
    const key = await neighbourOf(service, 'pruned')
    expect((await run(['apply', COMPANY, '--yes'], { key })).code).toBe(0)
    const small = written(
      'resources: { folder: { name: Folder, actions: [read], roles: { viewer: { permissions: [read] } } } }\n',
      'small.yaml',
    )
    expect(JSON.parse((await run(['apply', small], { key })).stdout).steps).toEqual([])
    const pruned = await run(['apply', small, '--prune', '--yes'], { key })
    const steps = JSON.parse(pruned.stdout).steps.map(
      ({ mark, what }: { mark: string; what: string }) => `${mark} ${what}`,
    )
    // Rules are removed before their sets, and sets before their parents.
    expect(steps.filter((step: string) => /set|rule/.test(step))).toEqual([
      '- rule senior_auditors may document:write on small_documents',
      '- rule role auditor may document:write on small_documents',
      '- condition set small_documents',
      '- condition set senior_auditors',
      '- condition set audit_department',
    ])
    expect(steps.filter((step: string) => !/set|rule/.test(step)).toSorted()).toEqual([
      '- action folder:write',
      '- resource document',
      '- role auditor',
      '- role folder#editor',
      '- tenant attribute plan',
      '- user attribute department',
    ])
    expect(JSON.parse((await run(['apply', small, '--prune'], { key })).stdout).steps).toEqual([])
    const all = await run(['apply', small, '--prune', '--prune-facts', '--yes'], { key })
    expect(all.code).toBe(0)
    const status = JSON.parse((await run(['status'], { key })).stdout)
    expect(status.counts).toMatchObject({
      roles: 0,
      users: 0,
      instances: 0,
      assignments: 0,
      tuples: 0,
      tenants: 1,
    })
  })

  test('rejects changes that would delete facts, and changes that are impossible', async () => {
    const [model] = company.split('relationship_tuples:') as [string]
    const file = written(
      model
        .replace('relations: { parent: folder }', 'relations: { parent: document }')
        .replaceAll('on_resource: folder', 'on_resource: document')
        .replace("'document:budget': { tenant: acme }", "'document:budget': { tenant: default }"),
      'turned.yaml',
    )
    const { code, stderr } = await run(['apply', file, '--yes'])
    const [first, second, ...more] = stderr.trimEnd().replaceAll(file, 'FILE').split('\n')
    expect([code, more]).toEqual([2, []])
    expect(first).toMatch(/^verdict: FILE:22:18: .*relation document\.parent comes from folder/)
    expect(second).toMatch(/^FILE:67:3: .*instance document:budget is in tenant acme and cannot move/)
  })
})

describe('the commands that check access', () => {
  test('verdict check prints the decision and returns it as exit code', async () => {
    expect(await run(['check', 'carol', 'write', 'document:roadmap'])).toMatchObject({
      code: 0,
      stdout: '{"allow":true}\n',
    })
    expect(await run(['check', 'alice', 'write', 'document:roadmap'])).toMatchObject({
      code: 1,
      stdout: '{"allow":false}\n',
    })
    expect(await table(['check', 'carol', 'write', 'document:roadmap'])).toBe('allow\n')
    const inTenant = ['check', 'alice', 'read', 'document:budget', '--tenant']
    expect([(await run([...inTenant, 'acme'])).code, (await run([...inTenant, 'default'])).code]).toEqual([
      0, 1,
    ])
  })

  test('verdict explain prints the path or the missing roles', async () => {
    expect(await table(['explain', 'carol', 'write', 'document:roadmap'])).toBe(
      [
        'allow',
        '  holds group:platform#member',
        '  which is group of group:engineering: so group:engineering#member',
        '  which is group_group_editor of folder:specs: so folder:specs#editor',
        '  which is parent of document:roadmap: so document:roadmap#editor',
        '',
      ].join('\n'),
    )
    expect(await table(['explain', 'dave', 'read', 'document:roadmap'])).toBe(
      'allow\n  tenant role auditor in default allows it\n',
    )
    expect(await table(['explain', 'alice', 'write', 'document:budget'])).toBe(
      [
        'deny',
        '  by tenant roles: the user holds no tenant role',
        '  by instance roles: the user holds viewer on the instance; roles that allow the action: editor',
        '  by rules:',
        '    senior_auditors on small_documents: user.level is missing (greater-than-equals 3); resource.size is missing (less-than 100)',
        '    role auditor on small_documents: the role is not held; resource.size is missing (less-than 100)',
        '',
      ].join('\n'),
    )
  })

  test('verdict bulk reads lines of words or JSON from a file or standard input', async () => {
    const words = written(
      '# who may\ncarol write document:roadmap\n\nalice write document:roadmap default\n',
      'questions.txt',
    )
    expect(await table(['bulk', words])).toBe(
      [
        'USER   ACTION  RESOURCE          TENANT   ANSWER',
        'carol  write   document:roadmap           allow',
        'alice  write   document:roadmap  default  deny',
        '',
        '1 allowed, 1 denied',
        '',
      ].join('\n'),
    )
    const stdin = Array.from(
      { length: 2_500 },
      () => '{"user":"carol","action":"read","resource":"document:roadmap"}',
    ).join('\n')
    const { code, stdout } = await run(['bulk', '-'], { stdin })
    expect([code, JSON.parse(stdout).length]).toEqual([0, 2_500])
    for (const wrong of ['carol write', '{"user":1}', '{']) {
      expect(await run(['bulk', '-'], { stdin: `carol read document:d\n${wrong}\n` })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('-:2: '),
      })
    }
  })

  test('use the environment of the key and reject other environments in options', async () => {
    const stdin = 'carol write document:roadmap\n'
    for (const asked of [
      ['check', 'carol', 'write', 'document:roadmap'],
      ['explain', 'carol', 'write', 'document:roadmap'],
      ['list', 'users', 'write', 'document:roadmap'],
      ['list', 'resources', 'carol', 'write', 'document'],
      ['list', 'actions', 'carol', 'document:roadmap'],
      ['bulk', '-'],
    ]) {
      const its = await run([...asked, '--env', 'default', '--project', 'default'], { stdin })
      expect([asked, its]).toEqual([asked, await run(asked, { stdin })])
      for (const other of [
        ['--env', 'nowhere'],
        ['--project', 'nowhere'],
      ]) {
        const { code, stdout, stderr } = await run([...asked, ...other], { stdin })
        expect([asked, code, stdout]).toEqual([asked, 3, ''])
        expect(stderr).toMatch(/this key belongs to another (environment|project) than the one in the path/)
      }
    }
  })

  test('verdict list prints resources, users and actions', async () => {
    expect(await table(['list', 'resources', 'dave', 'read', 'document'])).toBe('RESOURCE\nmemo\nroadmap\n')
    expect(await table(['list', 'users', 'write', 'document:roadmap'])).toBe('USER\nbob\ncarol\n')
    expect((await run(['list', 'actions', 'carol', 'document:roadmap'])).stdout).toBe('["read","write"]\n')
  })
})

describe('the commands for facts', () => {
  test('verdict load adds facts, can be repeated, and reports the line of an error', async () => {
    const lines = [
      { kind: 'tenant', key: 'globex', name: 'Globex' },
      { kind: 'user', key: 'frank' },
      { kind: 'instance', resource: 'document', key: 'plan', tenant: 'globex' },
      { kind: 'assignment', user: 'frank', role: 'editor', resource_instance: 'document:plan' },
      { kind: 'tuple', subject: 'folder:specs', relation: 'parent', object: 'document:agenda' },
    ].map(line => JSON.stringify(line))
    const file = written(`${lines.join('\n')}\n`, 'facts.ndjson')
    for (let time = 0; time < 2; time += 1) {
      const { code, stdout } = await run(['load', file])
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        { loaded: { tenant: 1, user: 1, instance: 1, assignment: 1, tuple: 1 } },
      ])
    }
    expect((await run(['check', 'frank', 'write', 'document:plan'])).code).toBe(0)
    expect((await run(['check', 'carol', 'write', 'document:agenda'])).code).toBe(0)
    for (const wrong of ['{"kind":"role","key":"r"}', '{"kind":"user"}', 'user']) {
      expect(await run(['load', '-'], { stdin: `${lines[1]}\n${wrong}\n` })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('-:2: '),
      })
    }
  })

  test('verdict load reports a rejected line and the loaded facts, and accepts null for missing fields', async () => {
    const user = (key: string) => ({ kind: 'user', key, email: null, attributes: null })
    const lines = [
      user('gina'),
      user('hugo'),
      { kind: 'assignment', user: 'gina', role: 'auditor', tenant: 'default', resource_instance: null },
      { kind: 'assignment', user: 'hugoo', role: 'auditor', tenant: 'default' },
      { kind: 'assignment', user: 'hugo', role: 'auditor', tenant: 'default' },
    ].map(line => JSON.stringify(line))
    const { code, stdout, stderr } = await run(['load', '-'], { stdin: lines.join('\n') })
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(
      /^verdict: -:4: there is no user "hugoo"\nloaded: user 2, assignment 1; you can load the file again, existing entries are kept\n$/,
    )
    expect((await run(['check', 'gina', 'read', 'document:memo'])).code).toBe(0)
    const broken = await run(['load', '-'], { stdin: `${lines[0]}\n{"kind":"user"}` })
    expect([broken.code, broken.stderr]).toEqual([
      2,
      expect.stringMatching(/^verdict: -:2: .*\nloaded: user 1;/),
    ])
    const nothing = await run(['load', '-'], { stdin: lines[3]! })
    expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining('\nnothing was loaded;')])
    for (const key of ['gina', 'hugo']) {
      await service.send('DELETE', `/v2/facts/default/default/users/${key}`)
    }
  })

  test('verdict load applies expiration times and skips expired facts', async () => {
    const granted = { kind: 'assignment', user: 'ivan', role: 'auditor', tenant: 'default' }
    const lines = [
      { kind: 'user', key: 'ivan' },
      { ...granted, expires_at: '2131-05-01T12:00:00+02:00' },
      { ...granted, role: 'editor', expires_at: '2020-01-01T00:00:00Z' },
    ].map(line => JSON.stringify(line))
    const { code, stdout, stderr } = await run(['load', '-'], { stdin: lines.join('\n') })
    expect([code, JSON.parse(stdout)]).toEqual([0, { loaded: { user: 1, assignment: 1 } }])
    expect(stderr).toContain('skipped expired facts: 1\n')
    const { body } = await service.get('/v2/facts/default/default/role_assignments?user=ivan')
    expect(body).toMatchObject([{ role: 'auditor', expires_at: '2131-05-01T10:00:00.000Z' }])
    await service.delete('/v2/facts/default/default/users/ivan')
  })

  test('verdict export writes a file that an import restores identically in another environment', async () => {
    const [first, second] = ['first.ndjson', 'second.ndjson'].map(name => pathOf(name))
    const exported = await run(['export', first!])
    const lines = readFileSync(first!, 'utf8').trimEnd().split('\n')
    expect([exported.code, JSON.parse(exported.stdout)]).toEqual([0, { file: first, lines: lines.length }])
    const key = await neighbourOf(service, 'restored')
    const imported = await run(['import', first!], { key })
    expect([imported.code, imported.stderr]).toEqual([0, ''])
    await run(['export', second!], { key })
    expect(readFileSync(second!, 'utf8')).toBe(readFileSync(first!, 'utf8'))
    expect((await run(['export'], { key })).stdout).toBe(readFileSync(first!, 'utf8'))
    expect(await run(['import', first!], { key })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('not empty'),
    })
    expect((await run(['import', '-', '--replace'], { key, stdin: readFileSync(first!, 'utf8') })).code).toBe(
      0,
    )
  })
})

describe('an input or output file', () => {
  test('that cannot be written or read is reported with exit code 2 before any request', async () => {
    const nowhere = join(directory, 'missing', 'backup.ndjson')
    for (const [args, reason] of [
      [['export', nowhere], 'ENOENT'],
      [['export', join(COMPANY, 'x')], 'ENOTDIR'],
      [['export', join(directory, 'n'.repeat(300))], 'ENAMETOOLONG'],
      [['import', nowhere], 'ENOENT'],
      [['import', directory, '--replace'], 'is a directory'],
    ] as const) {
      const { code, stdout, stderr } = await run(args)
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)])
      expect(stderr).toMatch(/^verdict: .+\n$/)
    }
  })

  test('is created readable only by its owner; a link or pipe is written to instead of being replaced', async () => {
    const file = pathOf('whole.ndjson')
    await run(['export', file])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    chmodSync(file, 0o640)
    await run(['export', file])
    expect(statSync(file).mode & 0o777).toBe(0o640)
    const whole = readFileSync(file, 'utf8')
    const [link, pipe] = ['link', 'pipe'].map(pathOf) as [string, string]
    const target = written('target', 'before')
    symlinkSync(target, link)
    expect((await run(['export', link])).code).toBe(0)
    expect([lstatSync(link).isSymbolicLink(), readFileSync(target, 'utf8')]).toEqual([true, whole])
    // A failure keeps the existing content.
    const nobody = { env: { VERDICT_URL: 'http://127.0.0.1:9', VERDICT_KEY: API_KEY } }
    expect((await verdictCommand(['export', link], nobody)).code).toBe(3)
    expect(readFileSync(target, 'utf8')).toBe(whole)
    execFileSync('mkfifo', [pipe])
    const read = readFile(pipe, 'utf8')
    expect((await run(['export', pipe])).code).toBe(0)
    expect([lstatSync(pipe).isFIFO(), await read]).toEqual([true, whole])
  })
})

describe('standard output', () => {
  const inShell = async (command: string, key = API_KEY) => {
    const { code, stderr } = await shellCommand(command, { VERDICT_URL: service.address, VERDICT_KEY: key })
    return { code, stderr }
  }

  test('that is closed early ends a command without a message, and the exit code is that of the command', async () => {
    const codeOf = (command: string, key?: string) => {
      return inShell(`${command} | true; exit \${PIPESTATUS[0]}`, key)
    }
    expect(await codeOf('verdict check bob write document:nowhere')).toEqual({ code: 1, stderr: '' })
    // More data than the buffer of a pipe.
    const key = await neighbourOf(service, 'voluminous')
    const body = { operations: Array.from({ length: 2_000 }, (_, n) => ({ key: `user-${n}` })) }
    await service.done('POST', '/v2/facts/default/voluminous/bulk/users', body, key)
    expect(await codeOf('verdict export', key)).toEqual({ code: 2, stderr: '' })
  })

  test('that is full causes exit code 2', async () => {
    expect(await inShell('verdict status > /dev/full')).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^verdict: standard output cannot be written: ENOSPC.*\n$/),
    })
  })
})

describe('the commands for operators', () => {
  test('verdict status prints the readiness and the number of entities', async () => {
    const key = await neighbourOf(service, 'counted')
    expect(await table(['status'], { key })).toBe(
      [
        `${service.address} is ready, Verdict ${VERSION}`,
        '',
        'WHAT         COUNT',
        'resources    0',
        'roles        0',
        'tenants      1',
        'users        0',
        'instances    0',
        'assignments  0',
        'tuples       0',
        '',
      ].join('\n'),
    )
  })

  test('verdict keys creates, lists, rotates and revokes keys', async () => {
    const made = JSON.parse(
      (
        await run(['keys', 'create', '--project', 'default', '--env', 'default', '--name', 'ci'], {
          key: ADMIN_KEY,
        })
      ).stdout,
    )
    expect((await run(['check', 'carol', 'write', 'document:roadmap'], { key: made.secret })).code).toBe(0)
    expect(await table(['keys', 'list'], { key: ADMIN_KEY })).toMatch(
      new RegExp(
        `^NAME +SCOPE +LEVEL +ID +CREATED +BY +LAST USED\n[^]*\nci +default of project default +admin +${made.id} +\\S+ +ADMIN_API_KEY`,
      ),
    )
    const setLevel = (level: string) => run(['keys', 'set-level', made.id, level], { key: ADMIN_KEY })
    expect(await setLevel('no_access')).toMatchObject({ code: 0 })
    expect((await run(['check', 'carol', 'write', 'document:roadmap'], { key: made.secret })).code).toBe(3)
    expect((await setLevel('decide')).code).toBe(0)
    const rotated = JSON.parse(
      (await run(['keys', 'rotate', made.id, '--overlap', '0'], { key: ADMIN_KEY })).stdout,
    )
    const withKey = (key: string) => run(['check', 'carol', 'write', 'document:roadmap'], { key })
    expect([(await withKey(made.secret)).code, (await withKey(rotated.secret)).code]).toEqual([3, 0])
    expect((await run(['keys', 'revoke', made.id], { key: ADMIN_KEY })).code).toBe(0)
    expect(await withKey(rotated.secret)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('valid API key'),
    })
  })

  test('name the actor of a change in --actor or VERDICT_ACTOR, and in --actor-for', async () => {
    const grant = ['grant', 'carol', 'auditor', 'in', 'default']
    const behalf = ['--actor-for', 'ann, bob/\u00fc']
    const env = { VERDICT_ACTOR: 'J\u00f6, clerk' }
    expect(await run([...grant, '--for', '1h', ...behalf], { env })).toMatchObject({ code: 0 })
    expect(await run([...grant, '--for', '2h', '--actor', 'me'], { env })).toMatchObject({ code: 0 })
    expect(await run([...grant, '--for', '3h'], { env: { VERDICT_ACTOR: '' } })).toMatchObject({ code: 0 })
    const log = await service.get<Envelope<AuditEntry>>('/v2/audit-log/default/default?per_page=3')
    expect(
      log.body.data.map(({ actor }) =>
        actor?.kind === 'claimed' ? [actor.name, ...actor.on_behalf_of] : actor,
      ),
    ).toEqual([null, ['me'], ['J\u00f6, clerk', 'ann', 'bob/\u00fc']])
    expect(await run(['revoke', ...grant.slice(1)])).toMatchObject({ code: 0 })
    const alone = await run([...grant, ...behalf])
    const stderr = 'verdict: --actor-for: also set --actor or VERDICT_ACTOR\n'
    expect(alone).toEqual({ code: 2, stdout: '', stderr })
  })

  test('require options that select the environment if the key is scoped to the organization', async () => {
    const options = { key: ADMIN_KEY }
    expect((await run(['status', '--project', 'default', '--env', 'default'], options)).code).toBe(0)
    expect(await run(['status', '--project', 'default', '--env', 'nowhere'], options)).toMatchObject({
      code: 3,
    })
    for (const [said, missing] of [
      [[], '--project and --env'],
      [['--project', 'default'], '--env'],
      [['--env', 'default'], '--project and --env'],
    ] as const) {
      const refused = await run(['export', ...said], options)
      expect([refused.code, refused.stdout]).toEqual([2, ''])
      expect(refused.stderr).toContain(`select one with ${missing}`)
    }
  })
})

describe('the command line', () => {
  test('has help with examples for every command', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    const commands = [...stdout.matchAll(/^ {2}verdict (\w+)/gm)].map(match => match[1]!)
    expect(commands.length).toBeGreaterThanOrEqual(13)
    for (const command of commands) {
      const help = await run([command, '--help'])
      expect([command, help.code]).toEqual([command, 0])
      if (!['list', 'keys', 'members', 'sessions', 'project', 'env'].includes(command))
        expect(help.stdout).toContain('Examples:')
    }
  })

  test.each([
    [[]],
    [['status', '--url', 'http://a', '--url', 'http://b']],
    [['check', 'a', 'b', 'c', '--tenant', 't', '--tenant', 'u']],
    [['status', '--url', 'ftp://127.0.0.1']],
    [['status', '--key.x', 'y']],
    [['list']],
  ])('rejects %j with exit code 2 and a message', async args => {
    const { code, stderr } = await run(args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^verdict: .+/)])
  })

  test('rejects an invalid key with exit code 2 without printing it', async () => {
    for (const key of ['secret\nsecret', '“secret”']) {
      const { code, stdout, stderr } = await run(['check', 'a', 'b', 'c'], { key })
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringMatching(/^verdict: --key: not a valid API key/),
      ])
      expect(stderr).not.toContain('secret')
    }
  })
})
